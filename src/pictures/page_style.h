// The style sheet of every page: one readable column, light and dark, and a printer gets black on
// white. A picture shrinks until its smallest text is 10 pixels high (--readable), then it scrolls
// and a line below says so; a table that scrolls has a shadow at the side where more of it is.
#pragma once

#include <string_view>

namespace sextant::pictures {

inline constexpr std::string_view kPageStyle = R"css(
:root { color-scheme: light dark; --paper: #fdfdfc; --ink: #1d242c; --muted: #5b6672;
  --line: #dfe3e7; --soft: #f3f5f6; --link: #005f99; --good: #0b6b4b; --good-soft: #e5f4ee;
  --bad: #9a3b00; --bad-soft: #fdeee3; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181d; --ink: #e3e7eb; --muted: #9aa5b1;
  --line: #313a44; --soft: #1d232a; --link: #7cc4f5; --good: #7fdcb8; --good-soft: #14312a;
  --bad: #ffb38a; --bad-soft: #3a2317; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial,
    sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .4rem; letter-spacing: -.01em;
  overflow-wrap: anywhere; }
h2 { font-size: 1.35rem; line-height: 1.3; margin: 2.8rem 0 .8rem; padding-top: 1rem;
  border-top: 1px solid var(--line); }
p { margin: .8rem 0; max-width: 44rem; overflow-wrap: anywhere; white-space: pre-line; }
.subtitle { color: var(--muted); font-size: 1.125rem; margin: 0; }
nav { margin: 1.6rem 0 0; padding: .7rem 1rem; background: var(--soft); border-radius: .5rem; }
nav ol { margin: 0; padding-left: 1.3rem; columns: 2 18rem; }
a { color: var(--link); }
pre { background: var(--soft); border-radius: .5rem; padding: .8rem 1rem; overflow-x: auto;
  font: .875rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .9375rem; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .8rem; text-align: left; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { color: var(--muted); font-weight: 600; }
th.number, td.number { text-align: right; white-space: nowrap; }
figure { margin: 1.5rem 0; }
.wide:has(> table) { background: linear-gradient(to right, var(--paper) 30%, transparent) 0 0 / 2rem 100%
    no-repeat local, linear-gradient(to left, var(--paper) 30%, transparent) 100% 0 / 2rem 100%
    no-repeat local, linear-gradient(to right, #8888, transparent) 0 0 / .7rem 100% no-repeat scroll,
    linear-gradient(to left, #8888, transparent) 100% 0 / .7rem 100% no-repeat scroll; }
.picture { container-type: inline-size; }
.picture .wide { margin: 0; border: 1px solid var(--line); border-radius: .5rem; background: #fff; }
.picture svg { display: block; margin: 0 auto; max-width: 100%; min-width: var(--readable);
  height: auto; }
.picture .scrolls { margin: 0; color: var(--muted); font-size: .875rem; line-height: 1.5;
  overflow: hidden; max-height: clamp(0px, (var(--readable) + 2px - 100cqi) * 999, 1.5em); }
.on-narrow { display: none; }
@media (max-width: 40rem) { .on-wide { display: none; } .on-narrow { display: block; } }
@media screen and (prefers-color-scheme: dark) { .picture .wide { background: var(--paper); } }
figcaption { color: var(--muted); font-size: .9375rem; margin-top: .5rem; max-width: 44rem;
  overflow-wrap: anywhere; }
.verdict { padding: .8rem 1.1rem; border-left: .3rem solid; border-radius: .3rem;
  font-weight: 600; max-width: none; }
.good { color: var(--good); background: var(--good-soft); }
.bad { color: var(--bad); background: var(--bad-soft); }
@media print { .on-wide { display: block; } .on-narrow { display: none; }
  :root { --paper: #fff; --ink: #000; --muted: #444; --line: #ccc; --soft: #f5f5f5; --good: #0b6b4b; --good-soft: #fff; --bad: #9a3b00; --bad-soft: #fff; --link: #000; }
  body { font-size: 10.5pt; } main { max-width: none; padding: 0; } nav { display: none; }
  figure, .verdict, tr { break-inside: avoid; } h2, summary { break-after: avoid; }
  .wide { overflow: visible; } .picture { container-type: normal; }
  .picture svg { width: auto; min-width: 0; max-height: 23cm; } .picture .scrolls { display: none; } }
)css";

}  // namespace sextant::pictures
