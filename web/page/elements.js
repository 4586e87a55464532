// Small helpers for the document: elements, pictures, and what every view has below its picture.
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
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  };

  // The SVG of the program as part of the page; it has a title, a description and no scripts.
  explorer.show_svg = (place, svg) => {
    const parsed = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement;
    parsed.removeAttribute('height');
    place.replaceChildren(document.importNode(parsed, true));
  };

  // Wide pictures scroll, by keys too.
  explorer.picture_place = (label = 'Picture') => explorer.make('div', {class: 'picture', tabindex: 0, role: 'group', 'aria-label': label});

  explorer.say = (text) => { document.getElementById('message').textContent = text; };

  const quoted = (word) => /^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";
  explorer.command_text = (args) => 'sextant ' + args.map(quoted).join(' ');

  explorer.save = (name, content, type) => {
    const link = explorer.make('a', {href: URL.createObjectURL(new Blob([content], {type})), download: name});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  async function png_of(svg_element) {
    const svg = svg_element.cloneNode(true), box = svg_element.viewBox.baseVal, scale = 2;
    svg.setAttribute('width', box.width);
    svg.setAttribute('height', box.height);
    const image = new Image();
    image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(new XMLSerializer().serializeToString(svg));
    await image.decode();
    const canvas = explorer.make('canvas', {width: box.width * scale, height: box.height * scale});
    const context = canvas.getContext('2d');
    context.fillStyle = '#fff';
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
  }

  // Buttons for the picture in `place` and its numbers, and the lines that make the same. `csv` is a
  // promise of the numbers, or null; `code` is {command, python, cpp}, each may be absent.
  explorer.show_exports = (place, {name, picture, csv = null, code}) => {
    const {make} = explorer, svg = () => picture.querySelector('svg');
    const button = (text, onclick) => make('button', {type: 'button', onclick}, text);
    const names = {command: 'Command', python: 'Python', cpp: 'C++'};
    place.replaceChildren(
      make('div', {class: 'row'},
        button('SVG', () => explorer.save(name + '.svg', new XMLSerializer().serializeToString(svg()), 'image/svg+xml')),
        button('PNG', async () => explorer.save(name + '.png', await png_of(svg()), 'image/png')),
        csv && button('CSV', async () => explorer.save(name + '.csv', await csv(), 'text/csv')),
        button('Copy link', async (event) => {
          await navigator.clipboard.writeText(location.href);
          event.target.textContent = 'Copied';
        })),
      ...Object.keys(names).filter((kind) => code[kind]).map((kind) =>
        make('details', {open: kind === 'command'}, make('summary', {}, names[kind]),
          make('pre', {tabindex: 0, 'aria-label': names[kind]}, code[kind]))));
  };

  // Lower-cased words and punctuation marks.
  explorer.words_of = (text) => [...new Intl.Segmenter('en', {granularity: 'word'}).segment(text.toLowerCase())]
    .map((part) => part.segment.trim()).filter((word) => word !== '');

  // Calls f at most once in `delay` milliseconds, with the last arguments.
  explorer.later = (f, delay = 120) => {
    let timer = 0;
    return (...args) => {
      clearTimeout(timer);
      timer = setTimeout(() => f(...args), delay);
    };
  };
})();
