// Makes controls from the program's lists of options: `sextant list --json` and `sextant list --options COMMAND --json`.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state} = explorer;

  // The output of `list --json` from the build of the page.
  explorer.schemes = async () => globalThis.sextant_list;

  const titles = {none: 'none', added: 'Added to embeddings', rotated: 'Rotations of q and k', distance_bias: 'Biases by distance',
    indexed_bias: 'Biases by query and key', content: 'Terms that depend on the words'};

  // A labelled control. An error of its value is shown next to it: `option` has the names of the option in the
  // program's errors, "window" of "[attend.window] must be ...", separated by spaces.
  explorer.field = (label, control, help = '', option = '') => {
    const id = 'c' + (explorer.field.count = (explorer.field.count || 0) + 1);
    control.id = id;
    control.setAttribute('aria-describedby', `${id}h ${id}p`);
    return make('div', {class: 'field', 'data-option': option}, make('label', {for: id}, label), control,
      make('small', {class: 'problem', id: id + 'p', role: 'alert'}), make('small', {id: id + 'h'}, help));
  };

  explorer.say_beside = (field, text) => {
    const says = field.querySelector('.problem'), control = field.querySelector('input, select, textarea');
    if (says.textContent !== text) says.textContent = text;
    if (text === '') control.removeAttribute('aria-invalid');
    else control.setAttribute('aria-invalid', 'true');
  };

  // Shows the error of a call next to its control, if there is one, and in place of the picture.
  explorer.show_problem = (answer, picture) => {
    const text = explorer.problem(answer), name = (text.match(/^\[[^\]]*?([a-z_-]+)\]/) || [])[1];
    const field = name && [...document.querySelectorAll('#view .field')].find((one) => one.dataset.option.split(' ').includes(name));
    if (field) {
      field.closest('details')?.setAttribute('open', '');
      explorer.say_beside(field, text.replace(/^\[[^\]]*\] /, ''));
    }
    picture.replaceChildren(make('p', {class: 'verdict bad', role: field ? null : 'alert'}, text));
  };
  explorer.forget_problems = () => {
    for (const field of document.querySelectorAll('#view .field[data-option]:not([data-option=""]):not([data-option=text]):not([data-option=second])')) explorer.say_beside(field, '');
  };

  // A field for a text; at most `most` words are used, and `change` is called after a change of the state.
  explorer.text_field = ({name, label, start, help = '', most, delay = 200}, change) => {
    const input = make('textarea', {rows: 2, spellcheck: 'false', dir: 'auto', maxlength: explorer.longest_text, oninput: explorer.later(() => {
      const text = input.value.slice(0, explorer.longest_text);
      explorer.say_beside(field, explorer.text_problem(input.value, most));
      state.set({[name]: text === start ? null : text});
      change(text);
    }, delay)});
    input.value = state.get(name, start).slice(0, explorer.longest_text);  // limits the text of a link; the browser limits pasted text
    const field = explorer.field(label, input, help, name);
    return field;
  };

  explorer.select = (options, value, change) => {
    const select = make('select', {onchange: () => change(select.value)},
      ...options.map(([name, title]) => make('option', {value: name, selected: name === value}, title)));
    return select;
  };

  explorer.number = (value, {min, max, step = 1}, change) => {
    const input = make('input', {type: 'number', value, min, max, step, inputmode: 'numeric', oninput: () => change(input.value)});
    return input;
  };

  // The schemes that `kinds` allows, in groups.
  explorer.scheme_select = (list, kinds, value, change) => {
    const select = make('select', {onchange: () => change(select.value)},
      ...Object.keys(titles).filter((kind) => kinds.includes(kind)).map((kind) =>
        make('optgroup', {label: titles[kind]}, ...list.filter((scheme) => scheme.kind === kind).map((scheme) =>
          make('option', {value: scheme.name, selected: scheme.name === value}, scheme.title)))));
    return select;
  };

  // The default of an option as it is written on the command line: "yes", "10000", "1,2"; empty if there is no default.
  const default_text = ({default: value}) => value === null ? undefined : typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value);

  function parameter_control(parameter, value, change) {
    const {type, names, min, max, multiple_of} = parameter.values;
    if (type === 'flag' || type === 'choice') {
      const options = [...(parameter.unset ? [parameter.unset] : []), ...(type === 'flag' ? ['yes', 'no'] : names)];
      return explorer.select(options.map((name) => [name, name]), value || default_text(parameter), change);
    }
    // Any text is passed to the program, which reports errors.
    const placeholder = default_text(parameter) ?? 'needed';
    if (type === 'integer' && !parameter.unset) {
      return make('input', {type: 'number', value, placeholder, min, max, step: multiple_of ?? 1, inputmode: 'numeric', oninput: (event) => change(event.target.value)});
    }
    return make('input', {value, placeholder, spellcheck: 'false', autocomplete: 'off', inputmode: type === 'integer' || type === 'number' ? 'decimal' : 'text',
      oninput: (event) => change(event.target.value.trim())});
  }

  // A field whose value is in the state under this key; `start` is the value if the key is absent.
  function option_field(option, key, name, change, start) {
    return explorer.field(name, parameter_control(option, state.get(key, start === default_text(option) ? '' : start), (value) => {
      state.set({[key]: value === '' || value === start ? null : value});
      change(key);
    }), option.meaning + ' (' + option.range + ')', [...new Set([option.name, key, key.replaceAll('-', '_')])].join(' '));
  }

  // Fields for the parameters of a scheme, except those in `left_out`; their values are in the state as "p.NAME",
  // or with another prefix.
  explorer.parameter_fields = (scheme, change, {left_out = ['heads'], prefix = 'p.'} = {}) => scheme.parameters
    .filter((parameter) => parameter.values.type !== 'text' && !left_out.includes(parameter.name))
    .map((parameter) => option_field(parameter, prefix + parameter.name, parameter.name, change, default_text(parameter)));

  // Fields for the options of a command that `words` names as the command line does, "max-tokens"; their values are in the
  // state under these words. `start` has values that replace the command's defaults.
  explorer.command_options = (command, words, start = {}) => {
    const list = words.map((word) => globalThis.sextant_options[command].find(({option}) => option === '--' + word));
    const first = (i) => start[words[i]] ?? default_text(list[i]);
    const value = (i) => state.get(words[i], first(i));
    return {
      value: (word) => value(words.indexOf(word)),
      values: () => Object.fromEntries(words.map((word, i) => [word, value(i)])),
      given: () => list.map((option, i) => [option, value(i)]).filter(([option, text]) => text !== default_text(option)),
      args() {
        return this.given().map(([{option, values}, text]) => values.type === 'flag' ? option : `${option}=${text}`);
      },
      fields: (change) => list.map((option, i) => option_field(option, words[i], words[i], change, first(i))),
    };
  };

  // The parameters of a scheme that the state has, as [parameter, value].
  explorer.given_parameters = (scheme, prefix = 'p.') => scheme.parameters
    .filter((parameter) => state.has(prefix + parameter.name)).map((parameter) => [parameter, state.get(prefix + parameter.name)]);

  // The options of a command that the state has.
  explorer.parameter_args = (scheme, prefix = 'p.') => explorer.given_parameters(scheme, prefix)
    .map(([parameter, value]) => parameter.option.replace(/^--(scheme-)?/, '--scheme-') + '=' + value);

  // The parameters of the previous scheme are removed.
  explorer.forget_parameters = (prefix = 'p.') => state.set(Object.fromEntries(
    state.names().filter((name) => name.startsWith(prefix)).map((name) => [name, null])));
})();
