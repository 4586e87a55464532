// Steps of the five documents that no other view has, in one form, which is made from the list below. A step has fields, writes
// files from them and runs commands on these. The view shows the printed text, and the picture of the last command if it draws one.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state} = explorer;
  const kVectors = 'king 1 1 0\nqueen 1 0 1\nboy 0 1 0\ngirl 0 0 1\n', kColours = 'black 0.31 -0.12 0.58 0.04\nbrown 0.29 -0.17 0.49 0.11\n';
  const words = (start) => ({label: 'Word vectors', start, rows: 5, help: 'a .vec file: a word per line, then its numbers'});
  const lines = (text) => text.split('\n').map((line) => line.trim()).filter((line) => line !== '');

  // of(values) returns the files that the commands read, the commands, and whether the last one draws. `at` is the step's number in docs/five-documents.md.
  const kSteps = {
    curves: {title: 'Words on curves', at: 'A2', says: 'Each column of the table is a wave along the text. The words of a sentence are at its first points.',
      fields: {text: {label: 'Sentence', start: 'I am a robot'}, columns: {label: 'Columns', start: '0,1,20,21,40,41', help: 'of 100; an even one is a sine, the next one the cosine of the same pair'}},
      of: ({text, columns}) => ({commands: [['plot', 'sinusoids', '--split', 'spaces', '--columns', columns, '--', text]], draws: true})},
    vocabulary: {title: 'A vocabulary and unknown words', at: 'A5',
      says: 'The words of some sentences get numbers in alphabetical order. Another sentence is turned into these numbers; an unknown word is OOV. Sub-words need SentencePiece, which the command line has and this page does not.',
      fields: {known: {label: 'Known sentences', start: 'I am a robot\nWhat is this? This is a sentence', rows: 3}, text: {label: 'Another sentence', start: 'What is a sextant'}},
      of: ({known, text}) => ({files: {'sentences.txt': known + '\n'},
        commands: [['vocabulary', '--file', 'sentences.txt'], ['vocabulary', '--file', 'sentences.txt', '-o', 'vocabulary.json'],
        ['tokenize', '--vocabulary', 'vocabulary.json', '--', text]]})},
    similarity: {title: 'Two words, their places, and both together', at: 'B3, B6', says: 'This compares two words, their places, and the sums of word and place. The vectors are given, because training them needs fastText, which this page does not have.',
      fields: {vectors: words(kColours), first: {label: 'A word', start: 'black'}, second: {label: 'Another word', start: 'brown'}, positions: {label: 'Their places', start: '2,10', help: 'counted from 0'},
        exponent: {label: 'Exponent', start: 'standard', choices: ['standard', 'doubled'], help: 'doubled is the mistake of document B'}},
      of: ({vectors, first, second, positions, exponent}) => ({files: {'words.vec': vectors},
        commands: [['similarity', '--vectors', 'words.vec', '--positions', positions, '--exponent', exponent, '--', first, second]]})},
    padding: {title: 'Padding and its mask', at: 'C2', says: 'The sentences of a batch are padded to one length. A padding token has a vector of zeros, so only its position remains. The mask is 0 there, and attention must ignore it.',
      fields: {text: {label: 'Sentences, one per line', start: 'the black cat sat\nthe cat', rows: 3}},
      of: ({text}) => ({commands: [['embed', '--', ...lines(text)]]})},
    recommendation: {title: 'Attention as a recommendation', at: 'E1', says: 'Users are queries and films are keys; the columns say what users like and what films contain. A score is the product of two rows, divided by the square root of the number of columns. The softmax turns each row of scores into shares.',
      fields: {users: {label: 'Users', start: 'name,action,romance,comedy\nAnn,1,-0.5,0.2\nBen,-1,1,0.5', rows: 4, help: 'numbers from -1 to 1'},
        items: {label: 'Films', start: 'film,action,romance,comedy\nHeat,1,-0.8,-0.5\nEmma,-0.9,1,0.3\nAlien,0.9,-1,-1', rows: 5}},
      of: ({users, items}) => ({files: {'users.csv': users + '\n', 'films.csv': items + '\n'}, commands: [['recommend', '--users', 'users.csv', '--items', 'films.csv']], draws: true})},
    arithmetic: {title: 'Word arithmetic', at: 'E1', says: 'This adds word vectors and finds the words nearest to the sum. The three numbers of a word are royal, male and female.',
      fields: {vectors: words(kVectors), sum: {label: 'Sum', start: 'king - boy + girl'}},
      of: ({vectors, sum}) => ({files: {'words.vec': vectors}, commands: [['similarity', '--vectors', 'words.vec', '--nearest', sum]]})},
    unlearned: {title: 'Attention without learned weights', at: 'E3', says: 'The word vectors are queries, keys and values at the same time. A word attends mostly to itself and to similar words; each output is a weighted mean of the words.',
      fields: {vectors: words(kVectors), text: {label: 'Words', start: 'king boy girl queen'}},
      of: ({vectors, text}) => ({files: {'words.vec': vectors}, commands: [['attend', '--vectors', 'words.vec', '--', text]], draws: true})},
  };
  const kFirst = 'curves';
  const kFiles = /^[\w]+\.(txt|vec|csv|json)$/;
  const with_options = (command, ...options) => {
    const at = command.includes('--') ? command.indexOf('--') : command.length;
    return [...command.slice(0, at), ...options, ...command.slice(at)];
  };
  const printing = new Set(['attend', 'embed', 'recommend', 'similarity', 'tokenize', 'vocabulary']);  // these print text; the others only draw

  explorer.views.documents = {
    title: 'The five documents',
    async show(place) {
      const form = make('div', {class: 'parameters'}), says = make('p'), exports = make('div', {class: 'exports'});
      const printed = make('pre', {class: 'table', tabindex: 0, 'aria-label': 'Output of the commands'}), picture = explorer.picture_place('The picture');
      let asked = 0;
      const name = () => kSteps[state.get('part')] ? state.get('part') : kFirst;
      const values = () => Object.fromEntries(Object.entries(kSteps[name()].fields).map(([key, {start}]) => [key, state.get('d.' + key, start).slice(0, explorer.longest_text)]));

      async function run() {
        const mine = ++asked, {files = {}, commands, draws = false} = kSteps[name()].of(values());
        // Files are in the program's root folder; texts come after "--".
        const line = (command) => command.map((word) => kFiles.test(word) ? '/' + word : word);
        const given = {files: Object.fromEntries(Object.entries(files).map(([file, text]) => ['/' + file, text]))};
        const drawing = with_options(commands.at(-1), '-o', '/picture.svg');
        picture.hidden = !draws;
        picture.setAttribute('aria-busy', 'true');
        const texts = [];
        let failed = null;
        for (const one of commands.filter(([command]) => printing.has(command))) {
          const answer = await explorer.engine.run(line(one[0] === 'attend' ? with_options(one, '--format', 'text') : one), given);
          if (mine !== asked) return;
          if (answer.code !== 0) failed = answer;
          texts.push(answer.out);
        }
        const drawn = draws && failed === null ? await explorer.engine.run(line(with_options(drawing, ...explorer.width_args(picture))), {...given, read: ['/picture.svg']}) : null;
        if (mine !== asked) return;
        if (drawn !== null && drawn.code !== 0) failed = drawn;
        explorer.forget_problems();
        printed.textContent = texts.filter((text) => text !== '').join('\n');
        printed.hidden = printed.textContent === '';
        picture.removeAttribute('aria-busy');
        if (failed !== null) {
          picture.hidden = false;
          exports.replaceChildren();
          return explorer.show_problem(failed, picture);
        }
        if (drawn !== null) explorer.show_svg(picture, drawn.files['/picture.svg']);
        else picture.replaceChildren();
        const shown = draws ? [...commands.slice(0, -1), drawing.map((word) => word === '/picture.svg' ? name() + '.svg' : word)] : commands;
        explorer.show_exports(exports, {name: name(), picture, code: {command: shown.map(explorer.command_text).join('\n')}});
      }

      function show_step() {
        const {says: text, at, fields} = kSteps[name()], later = explorer.later(run, 200);
        says.textContent = `${text} (Document ${at})`;
        form.replaceChildren(...Object.entries(fields).map(([key, {label, start, rows = 1, help = '', choices}]) => {
          const change = (value) => {
            state.set({['d.' + key]: value === start ? null : value});
            later();
          };
          const control = choices ? explorer.select(choices.map((one) => [one, one]), values()[key], change)
            : make(rows > 1 ? 'textarea' : 'input', {...(rows > 1 ? {rows} : {}), spellcheck: 'false', dir: 'auto', maxlength: explorer.longest_text, oninput: (event) => change(event.target.value)});
          if (!choices) control.value = values()[key];
          return explorer.field(label, control, help, key);
        }));
        return run();
      }

      const step = explorer.select(Object.entries(kSteps).map(([key, {title}]) => [key, title]), name(), (chosen) => {
        state.set(Object.fromEntries(state.names().filter((key) => key.startsWith('d.')).map((key) => [key, null])));
        state.set({part: chosen === kFirst ? null : chosen});
        show_step();
      });
      place.replaceChildren(
        make('p', {}, 'These steps of the teaching documents are not in the other views. A text box is the file that the command below reads.'),
        make('div', {class: 'parameters'}, explorer.field('Step', step)), says, form, picture, printed, exports);
      await show_step();
    },
  };
})();
