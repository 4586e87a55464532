// Defines the rules of UAX #29 for the ends of words, as rules of ICU: ours, because those of ICU
// change with its version. As in ICU 72, @ is a letter and a colon joins no letters. A change here
// must change kWordRules too. The classes of letters, and the words of the scripts that are split
// by a dictionary ($dictionary is a name in ICU), are still ICU's.
#pragma once

namespace sextant::text {

// {200} marks a word; anything else is a mark, a symbol, an emoji or white space.
inline constexpr const char* kWordBreaks = R"(
!!chain;
!!quoted_literals_only;

$attached = [[\p{Word_Break = Extend} \p{Word_Break = Format} \p{Word_Break = ZWJ}] - [:Han:]];
$cjk = [[:Han:] [:Hiragana:] \p{Word_Break = Katakana}];
$hangul = [\uAC00-\uD7A3];
$complex = [:Line_Break = Complex_Context:];
$dictionary = [$cjk $hangul $complex];

$hebrew = [\p{Word_Break = Hebrew_Letter}];
$letter = [[[\p{Word_Break = ALetter} [@]] - $cjk - $hangul] $hebrew [$complex - $attached - \p{Grapheme_Cluster_Break = Control}]];
$digit = [\p{Word_Break = Numeric} \uFF10-\uFF19];
$katakana = [\p{Word_Break = Katakana}];
$low_line = [\p{Word_Break = ExtendNumLet}];
$quote = [\p{Word_Break = Single_Quote}];
$double_quote = [\p{Word_Break = Double_Quote}];
$joins_both = [\p{Word_Break = MidNumLet} $quote];
$joins_letters = [\p{Word_Break = MidLetter} $joins_both - [\: \uFE55 \uFF1A]];
$joins_digits = [\p{Word_Break = MidNum} $joins_both];
$flag = [\p{Word_Break = Regional_Indicator}];
$space = [\p{Word_Break = WSegSpace}];
$line_end = [\r \n \p{Word_Break = Newline}];

# What is never parted: a line break of two characters, emoji that are joined, white space, marks
# and the character before them.
[\r] [\n];
[\u200D] [\p{Extended_Pictographic}];
$space $space;
^$attached+;
[^$line_end $attached] $attached*;
# Words: letters and digits, with the marks that join them.
[$letter $digit $cjk $hangul] $attached* {200};
$letter $attached* $letter {200};
$letter $attached* $joins_letters $attached* $letter {200};
$hebrew $attached* $quote {200};
$hebrew $attached* $double_quote $attached* $hebrew {200};
$digit $attached* $digit {200};
$letter $attached* $digit {200};
$digit $attached* $letter {200};
$digit $attached* $joins_digits $attached* $digit {200};
$katakana $attached* $katakana {200};
[$letter $digit $katakana] $attached* $low_line {200};
$low_line $attached* $low_line {200};
$low_line $attached* [$letter $digit $katakana] {200};
# A flag is two letters. What a dictionary splits is kept together until then.
^$flag $attached* $flag;
$hangul $hangul {200};
$cjk $cjk {200};
.;
)";

}  // namespace sextant::text
