// Small helpers for the document: elements, pictures, messages, words, timers.
'use strict';

(() => {
  const explorer = globalThis.explorer;

  // make('button', {type: 'button', onclick: f}, 'Words', child)
  explorer.make = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
      else if (value === true) element.setAttribute(key, '');
      else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
    return element;
  };

  const kSides = 42;  // pixels of the page's margins
  const kWidest = 950, kNarrowest = 280;  // of the program's pictures: without --max-width, and the least that it takes
  // The options that fit a picture into its place.
  explorer.width_args = (place) => {
    const width = place?.clientWidth || document.documentElement.clientWidth - kSides;
    return width < kWidest ? ['--max-width', String(Math.max(kNarrowest, width))] : [];
  };
  // Inserts the program's SVG into the page; it has a title, a description and no scripts.
  explorer.show_svg = (place, svg) => {
    const parsed = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement;
    parsed.removeAttribute('height');
    place.replaceChildren(document.importNode(parsed, true));
  };

  // A wide picture scrolls, also by keys.
  explorer.picture_place = (label = 'Picture') => explorer.make('div', {class: 'picture', tabindex: 0, role: 'group', 'aria-label': label});

  explorer.say = (text) => { document.getElementById('message').textContent = text; };

  // Returns at most `most` words and punctuation marks of the first 20,000 characters, so that a pasted book does not stop the page.
  explorer.longest_text = 20000;
  explorer.words_of = (text, most = Infinity) => {
    const words = [];
    for (const {segment} of new Intl.Segmenter('en', {granularity: 'word'}).segment(text.slice(0, explorer.longest_text))) {
      const word = segment.trim();
      if (word === '') continue;
      if (words.length === most) break;
      words.push(word);
    }
    return words;
  };
  // The note for a text of which only a part is used; '' if all of it is used.
  explorer.text_problem = (text, most) => {
    if (text.length > explorer.longest_text) return `Only the first ${most} words are used: the text has ${text.length} characters.`;
    const count = explorer.words_of(text).length;
    return count > most ? `Only the first ${most} of ${count} words are used.` : '';
  };

  // Calls f when it has not been called for `delay` milliseconds, with the last arguments.
  explorer.later = (f, delay = 120) => {
    let timer = 0;
    return (...args) => {
      clearTimeout(timer);
      timer = setTimeout(() => f(...args), delay);
    };
  };
})();
