// The part below each picture: buttons to save the picture, its numbers and a link, and the code that produces the same.
'use strict';

(() => {
  const explorer = globalThis.explorer;

  const quoted = (word) => /^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";
  explorer.command_text = (args) => 'sextant ' + args.map(quoted).join(' ');

  // The calls in a language that do the same as commands, as the program prints them; '' if there are none.
  async function printed_calls(commands, language) {
    const answers = await Promise.all(commands.map(([name, ...more]) => explorer.engine.run([name, '--print-call', language, ...more])));
    const texts = answers.filter(({code}) => code === 0).map(({out}) => out.trim());
    return texts.map((text, i) => i === 0 ? text : text.replace(/^import sextant\n+/, '')).join('\n\n');
  }

  explorer.save = (name, content, type) => {
    const link = explorer.make('a', {href: URL.createObjectURL(new Blob([content], {type})), download: name});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  async function png_of(svg_element) {
    const svg = svg_element.cloneNode(true), box = svg_element.viewBox.baseVal, scale = 2;
    svg.setAttribute('width', box.width);
    svg.setAttribute('height', box.height);
    svg.querySelectorAll('style, .cursor').forEach((one) => one.remove());  // dark colours and the cursor
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

  // Shows buttons for the pictures in `picture` and their numbers, and the code that produces the same. `csv` is a
  // function that returns a promise of the numbers, or null; `code` is {command, python, cpp}, each may be absent, or has
  // `calls`, the arguments of commands, instead of the last two.
  explorer.show_exports = (place, {name, picture, csv = null, code}) => {
    const {make} = explorer, shown = () => [...picture.querySelectorAll('svg')].filter((svg) => svg.closest('[hidden]') === null);
    const each = async (ending, type, content) => {
      for (const [i, svg] of shown().entries()) explorer.save(name + (i === 0 ? '' : '-' + (i + 1)) + ending, await content(svg), type);
    };
    const button = (text, onclick) => make('button', {type: 'button', onclick}, text);
    const names = {command: 'Command', python: 'Python', cpp: 'C++'};
    const block = (kind, text) => make('details', {open: kind === 'command'}, make('summary', {}, names[kind]),
      make('pre', {tabindex: 0, 'aria-label': names[kind]}, text));
    const mine = place.asked = (place.asked || 0) + 1;
    place.replaceChildren(
      make('div', {class: 'row'},
        shown().length > 0 && button('SVG', () => each('.svg', 'image/svg+xml', (svg) => new XMLSerializer().serializeToString(svg))),
        shown().length > 0 && button('PNG', () => each('.png', 'image/png', png_of)),
        csv && button('CSV', async () => explorer.save(name + '.csv', await csv(), 'text/csv')),
        button('Copy link', async (event) => {
          await navigator.clipboard.writeText(location.href);
          event.target.textContent = 'Copied';
        })),
      ...Object.keys(names).filter((kind) => code[kind]).map((kind) => block(kind, code[kind])));
    // The place is busy until all of them are shown, because the page grows again.
    if (code.calls) place.setAttribute('aria-busy', 'true'); else place.removeAttribute('aria-busy');
    if (code.calls) Promise.all(['python', 'c++'].map((language) => printed_calls(code.calls, language))).then(([python, cpp]) => {
      if (mine !== place.asked) return;  // a newer call has replaced this one
      place.removeAttribute('aria-busy');
      place.append(...[['python', python], ['cpp', cpp]].filter(([, text]) => text !== '').map(([kind, text]) => block(kind, text)));
    });
  };
})();
