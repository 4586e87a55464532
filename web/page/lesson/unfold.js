// A number, unfolded: its arithmetic, each part of which unfolds in turn, and the line of the formula.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make} = explorer;

  // `data()` gives the steps that the numbers are of.
  explorer.unfolding = (data) => {
    const place = make('section', {class: 'unfolded', 'aria-live': 'polite', 'aria-label': 'The number that was chosen'});
    const home = make('div', {class: 'beside-picture'});
    let trail = [];

    const link = (at) => make('button', {type: 'button', class: 'part', title: explorer.name_of_number(data(), at), 'data-value': JSON.stringify(explorer.value_of(data(), at)),
      'aria-label': `${explorer.digits(explorer.value_of(data(), at))}, ${explorer.name_of_number(data(), at)}`,
      onclick: () => show([...trail, at])}, explorer.digits(explorer.value_of(data(), at)));
    const piece = (one) => typeof one === 'object' && one !== null ? link(one) : typeof one === 'string' ? one : make('span', {class: 'number'}, explorer.digits(one));

    function show(steps) {
      trail = steps;
      if (trail.length === 0) return place.replaceChildren(hint());
      const at = trail.at(-1), all = data(), value = explorer.value_of(all, at), {formula, of_key, says, lines} = explorer.terms_of(all, at);
      const title = make('h4', {tabindex: -1}, explorer.name_of_number(all, at));
      const back = trail.length > 1 && make('button', {type: 'button', class: 'back', onclick: () => show(trail.slice(0, -1))}, `Back to ${explorer.name_of_number(all, trail.at(-2))}`);
      const inside = place.contains(document.activeElement);
      place.replaceChildren(title, make('p', {class: 'exact'}, '= ', make('output', {'data-value': JSON.stringify(value)}, value === null ? 'minus infinity: hidden' : String(value))),
        ...[formula && explorer.formula(formula, of_key), says && make('p', {}, says),
          lines.length > 0 && make('ul', {class: 'lines'}, ...lines.map((line) => make('li', {}, ...line.flatMap((one, i) => i > 0 ? [' ', piece(one)] : [piece(one)])))),
          back].filter(Boolean));
      place.dataset.step = at.step;
      if (inside) title.focus();  // the button that was pressed is gone
    }
    const hint = () => make('p', {class: 'note'}, 'Choose any number, by a click or with the arrow keys and Enter, to see what it is made of.');
    place.append(hint());
    // Beside the picture where there is room, else below the table of the number, which is what the reader looks at.
    function stand() {
      const table = document.querySelector('.numbers [aria-selected]')?.closest('figure');
      if (table && (matchMedia('(max-width: 60rem)').matches || table.closest('.flow'))) table.after(place);
      else if (place.parentNode !== home) home.append(place);
    }
    return {home, pick(at) {
      stand();
      show([at]);
    }, clear() {
      home.append(place);
      show([]);
    }};
  };
})();
