// The report's own style sheet, beside that of every page.
#pragma once

#include <string_view>

namespace sextant::figures {

inline constexpr std::string_view kReportStyle = R"css(
h1 { font-size: clamp(1.35rem, 4vw, 2rem); }
.other { font-size: clamp(1.1rem, 3vw, 1.5rem); margin: .6rem 0 0; max-width: none; }
.other span { display: block; color: var(--muted); font-size: 1rem; }
mark { background: #ffd98a; color: #1d242c; border-radius: .2rem; padding: 0 .15em; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 21rem), 1fr));
  gap: 1rem 2.5rem; margin: 1.2rem 0; }
.bars { width: 100%; table-layout: fixed; align-self: start; font-size: .9375rem; }
.bars caption { text-align: left; font-weight: 700; padding-bottom: .3rem; font-size: 1.0625rem; }
.bars th, .bars td { padding: .12rem .4rem .12rem 0; border: 0; vertical-align: middle; }
.bars tbody th { color: inherit; font-weight: 400; overflow-wrap: anywhere; }
.bars td { width: 38%; white-space: nowrap; }
.bars td i { display: inline-block; height: .8em; min-width: 1px;
  width: calc((100% - 3.4rem) * var(--share));
  border-radius: 1px; vertical-align: -.06em; margin-right: .35rem; }
.bars td b { font-weight: 400; font-size: .8125rem; color: var(--muted); }
.bars .others { color: var(--muted); }
.bars i.written { background: #2f6fb0; }
.bars i.swapped { background: #c96a1b; }
.bars tr.differ th { font-weight: 700; }
.bars tfoot td { padding-top: .5rem; white-space: normal; font-weight: 600; }
details { border-top: 1px solid var(--line); margin: 1rem 0 0; padding: .5rem 0; }
summary { cursor: pointer; font-weight: 600; }
summary:hover { color: var(--link); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.columns { columns: 3 15rem; }
.columns table { break-inside: auto; }
.explore { border: 1px solid var(--line); border-radius: .5rem; padding: .8rem 1rem;
  margin: 1.5rem 0; }
.explore h3 { margin: 0 0 .6rem; font-size: 1.0625rem; }
.explore fieldset { border: 0; padding: 0; margin: 0 1.4rem .5rem 0; display: inline-block; }
.explore legend { float: left; padding: .2rem .5rem .2rem 0; color: var(--muted);
  font-size: .9375rem; }
.explore label { display: inline-block; margin: .1rem .25rem .1rem 0; font-size: .9375rem; }
.explore label span { display: inline-block; padding: .15rem .6rem; border: 1px solid var(--line);
  border-radius: 1rem; cursor: pointer; }
.explore input { position: absolute; opacity: 0; }
.explore input:checked + span { background: var(--link); border-color: var(--link);
  color: var(--paper); }
.explore input:focus-visible + span { outline: 3px solid var(--link); outline-offset: 2px; }
.words { position: relative; line-height: 2.1; margin: .4rem 0; padding-top: 2.6rem; }
.words button { font: inherit; border: 2px solid transparent; border-radius: .25rem;
  background: none; color: inherit; padding: .05rem .2rem; margin: 0 .05rem; }
.words button { cursor: pointer; }
.words button[aria-pressed="true"] { border-color: #c96a1b; }
.words svg { position: absolute; inset: 0; width: 100%; height: 100%; pointer-events: none;
  overflow: visible; }
.source, .target { font: 1.0625rem/1.4 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono",
    monospace; margin: .4rem 0; }
.source u, .target u { text-decoration: none; padding: .1rem .06rem; }
.source .word { display: inline-block; border: 1px solid var(--muted); border-bottom: 0;
  margin-top: .9rem; padding: .15rem 0 0; position: relative; }
.source small { position: absolute; bottom: 100%; left: 0; right: 0; text-align: center;
  font-size: .75rem; color: var(--muted); font-family: system-ui, sans-serif; }
.target u.chosen, .target button[aria-pressed="true"] { border: 2px solid #c96a1b;
  border-radius: .2rem; }
.target button { font: inherit; border: 2px solid transparent; border-radius: .2rem;
  background: none; color: inherit; padding: .1rem .15rem; cursor: pointer; }
.says { min-height: 3.2em; margin: .3rem 0; }
.map { border-collapse: collapse; font-size: .75rem; }
.map th { padding: 0 .3rem 0 0; border: 0; text-align: right; font-weight: 400; color: inherit;
  white-space: nowrap; line-height: 1; }
.map thead th { writing-mode: vertical-rl; transform: rotate(180deg); padding: .3rem 0 0;
  text-align: left; vertical-align: bottom; }
.map td { padding: 0; border: 1px solid var(--paper); width: 1.5rem; height: 1.5rem;
  min-width: .75rem; cursor: pointer; }
.map.small td { width: .75rem; height: .75rem; border-width: 0; }
.map.small { font-size: .625rem; }
.map tr.at th, .map th.at { font-weight: 700; }
.map tr.at td { box-shadow: inset 0 2px 0 #c96a1b, inset 0 -2px 0 #c96a1b; }
.map td.hidden { background: #c8c8c8; }
@media (prefers-color-scheme: dark) { .bars i.written { background: #6fa8dc; }
  .bars i.swapped { background: #e69148; } }
@media print { #explore { display: none; } details > summary { list-style: none; } }
)css";

}  // namespace sextant::figures
