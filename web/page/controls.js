// Controls made from what the program says of its options: `sextant list --json`.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state} = explorer;
  let schemes = null;

  explorer.schemes = async () => {
    if (schemes === null) schemes = JSON.parse((await explorer.engine.run(['list', '--json'])).out);
    return schemes;
  };

  const titles = {none: 'none', added: 'Added to embeddings', rotated: 'Rotations of q and k', distance_bias: 'Biases by distance',
    indexed_bias: 'Biases by query and key', content: 'Terms that depend on the words'};

  // A labelled control; `change` is called with its text.
  explorer.field = (label, control, help = '') => {
    const id = 'c' + (explorer.field.count = (explorer.field.count || 0) + 1);
    control.id = id;
    if (help !== '') control.setAttribute('aria-describedby', id + 'h');
    return make('div', {class: 'field'}, make('label', {for: id}, label), control,
      help === '' ? null : make('small', {id: id + 'h'}, help));
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

  function parameter_control(parameter, value, change) {
    const {type, names, min, max, multiple_of} = parameter.values;
    if (type === 'flag' || type === 'choice') {
      const options = [...(parameter.unset ? [parameter.unset] : []), ...(type === 'flag' ? ['yes', 'no'] : names)];
      return explorer.select(options.map((name) => [name, name]), value || parameter.default, change);
    }
    const input = make('input', {value, placeholder: parameter.default ?? 'needed', spellcheck: 'false', autocomplete: 'off',
      inputmode: type === 'integer' || type === 'number' ? 'decimal' : 'text', oninput: () => change(input.value.trim())});
    if (type === 'integer' && min !== undefined && max !== undefined && max - min <= 64) {
      input.setAttribute('list', '');
      input.title = 'in steps of ' + (multiple_of || 1);
    }
    return input;
  }

  // Fields for all parameters of a scheme but those that `left_out` names; their values are in the state as "p.NAME".
  explorer.parameter_fields = (scheme, change, left_out = ['heads']) => scheme.parameters
    .filter((parameter) => parameter.values.type !== 'text' && !left_out.includes(parameter.name))
    .map((parameter) => explorer.field(parameter.name,
      parameter_control(parameter, state.get('p.' + parameter.name), (value) => {
        state.set({['p.' + parameter.name]: value === '' || value === parameter.default ? null : value});
        change();
      }), parameter.meaning + ' (' + parameter.range + ')'));

  // The options of a command that the state asks for.
  explorer.parameter_args = (scheme) => scheme.parameters
    .filter((parameter) => state.has('p.' + parameter.name))
    .map((parameter) => parameter.option.replace(/^--(scheme-)?/, '--scheme-') + '=' + state.get('p.' + parameter.name));

  // Another scheme has other parameters.
  explorer.forget_parameters = () => state.set(Object.fromEntries(
    state.names().filter((name) => name.startsWith('p.')).map((name) => [name, null])));
})();
