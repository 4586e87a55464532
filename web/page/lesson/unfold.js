// Unfolds a number: shows its formula and its arithmetic, in which each part can be unfolded.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make} = explorer;

  // `data()` returns the steps of the numbers.
  explorer.unfolding = (data) => {
    const place = make('section', {class: 'unfolded', 'aria-live': 'polite', 'aria-label': 'The chosen number'});
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
      place.replaceChildren(title, make('p', {class: 'exact'}, '= ', make('output', {'data-value': JSON.stringify(value)}, value === null ? 'minus infinity (hidden)' : String(value))),
        ...[formula && explorer.formula(formula, of_key), says && make('p', {}, says),
          lines.length > 0 && make('ul', {class: 'lines'}, ...lines.map((line) => make('li', {}, ...line.flatMap((one, i) => i > 0 ? [' ', piece(one)] : [piece(one)])))),
          back].filter(Boolean));
      place.dataset.step = at.step;
      if (inside) title.focus();  // the pressed button was removed
    }
    const hint = () => make('p', {class: 'note'}, 'Choose any number, by a click or with the arrow keys and Enter, to see how it is computed.');
    place.append(hint());
    // Its place is next to the picture if there is room, else below the table of the number.
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
