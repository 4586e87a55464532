#!/usr/bin/env python3
"""Writes src/core/character_widths.h, the characters that are not one terminal cell wide, from Python's Unicode tables.

    scripts/character_widths.py > src/core/character_widths.h
"""
import unicodedata



def is_nothing(c):  # marks that combine, format characters, the later parts of Hangul syllables
    return (unicodedata.category(chr(c)) in ("Mn", "Me", "Cf") and c != 0xAD) or 0x1160 <= c <= 0x11FF


def is_wide(c):
    return unicodedata.east_asian_width(chr(c)) in ("W", "F") and not is_nothing(c)


def ranges(wanted):  # what is unassigned between two of a range belongs to it
    found, open_range = [], False
    for c in range(0x80, 0x3FFFE):
        if unicodedata.category(chr(c)) == "Cn":
            continue
        if not wanted(c):
            open_range = False
        elif open_range:
            found[-1][1] = c
        else:
            found.append([c, c])
            open_range = True
    return found


def table(name, meaning, wanted):
    found = ranges(wanted)
    print(f"// {meaning}\ninline constexpr std::array<CharacterRange, {len(found)}> k{name} = {{{{")
    print(", ".join(f"{{{first:#x}, {last:#x}}}" for first, last in found))
    print("}};")


print(f"""// Characters that are not one terminal cell wide, of Unicode {unicodedata.unidata_version}.
// Made by scripts/character_widths.py.
#pragma once

#include <array>

namespace sextant {{

struct CharacterRange {{
  char32_t first, last;
}};
""")
table("NoCell", "Marks that combine with the character before them, and format characters.", is_nothing)
print()
table("TwoCells", "East Asian wide and full-width forms, and emoji.", is_wide)
print("\n}  // namespace sextant")
