// Parts of the view of positions: schemes with their parameters, sizes, examples, differences, code.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state} = explorer;

  // The controls of one scheme to draw and of its parameters.
  explorer.scheme_slot = ({list, slot, scheme, name, prefix}, draw, chosen) => {
    const kinds = ['added', 'rotated', 'distance_bias', 'indexed_bias'];
    const select = explorer.scheme_select(list, kinds, scheme?.name ?? '', (value) => {
      state.set({[name]: value === '' || (slot === 0 && value === 'sinusoidal') ? null : value});
      explorer.forget_parameters(prefix);
      chosen();
    });
    if (slot > 0) select.prepend(make('option', {value: '', selected: scheme === undefined}, 'none'));
    const fields = scheme ? explorer.parameter_fields(scheme, draw, {prefix}) : [];
    return make('div', {class: 'slot'}, explorer.field(slot === 0 ? 'Scheme' : 'Next to it', select),
      fields.length === 0 ? null : make('details', {},
        make('summary', {}, ['Parameters of ' + scheme.title, ...explorer.given_parameters(scheme, prefix).map(([one, value]) => `${one.name} = ${value}`)].join(', ')), make('div', {class: 'parameters'}, ...fields)));
  };

  // A field for a number, with a slider if the range is small enough.
  explorer.size_field = ({name, label, value, range, help, slider}, change) => {
    const field = explorer.field(label, explorer.number(value, range, (text) => {
      if (slide) slide.value = text;
      change(text);
    }), help, name), input = field.querySelector('input');
    const slide = slider === 0 ? null : make('input', {type: 'range', min: range.min, max: slider, value, 'aria-label': label + ', slider', oninput: () => {
      input.value = slide.value;
      change(slide.value);
    }});
    if (slide) input.after(slide);
    return field;
  };

  // The same choice as the program's defaults: fast, slower and slow waves, sine and cosine; near and far rows.
  explorer.some_columns = (width) => {
    const step = 2 * Math.max(1, Math.round(width / 10));
    return [0, 1, step, step + 1, 2 * step, 2 * step + 1].filter((column) => column < Math.max(width, 1));
  };
  explorer.some_rows = (length) => [0, 4, 10].filter((row) => row < Math.max(length, 1));

  const kExamples = {
    'Angles in float32 at position 1,000,000': 'plot=difference&beside1=sinusoidal&p1.precision=framework&first=1000000',
    'The doubled exponent and the formula': 'beside1=sinusoidal&p1.exponent=doubled',
    'The offset matrix at work': 'plot=at-work&shift=5&position=1000000&width=32',
    'Where dynamic NTK starts to differ from rotary': 'scheme=rotary&plot=difference&beside1=rotary_dynamic_ntk&p1.max_length=64&length=65&width=32',
    'Four ways to fade with distance': 'scheme=alibi&plot=distance&beside1=t5&beside2=kerple_log&beside3=sandwich&length=128',
  };
  explorer.position_examples = () => make('p', {class: 'examples'}, 'Try: ', ...Object.entries(kExamples).flatMap(([title, fragment]) =>
    [make('a', {href: '#view=positions&' + fragment}, title), ' ']));

  // Says how far two tables differ, and the first length at which they do. Bisection finds it, for tables that
  // differ from some length on.
  explorer.tell_difference = async ({args, first, says, is_new, most}) => {
    const largest_at = async (length) => {
      const line = [...args];
      if (length !== undefined) line[line.indexOf('--length') + 1] = String(length);
      const answer = await explorer.engine.run([...line, '--json'], {pick: ['largest']});
      return answer.code === 0 ? answer.picked.largest : null;
    };
    const shown = await largest_at(), length = args[args.indexOf('--length') + 1];
    if (shown === null || !is_new()) return;
    const here = shown.difference === 0 ? `The two tables are the same for ${length} positions.`
      : `Of ${length} positions they differ by at most ${shown.difference}, at row ${shown.row + first}, column ${shown.column}.`;
    says.textContent = here;
    if (!args.includes('--head-dim')) return;
    let same = 0, apart = most;
    const end = await largest_at(most);
    if (end === null || end.difference === 0) return;
    while (apart - same > 1) {
      if (!is_new()) return;
      const middle = (same + apart) >> 1, found = await largest_at(middle);
      if (found === null) return;
      if (found.difference === 0) same = middle;
      else apart = middle;
    }
    if (is_new()) says.textContent = `${here} They start to differ at length ${apart}.`;
  };
})();
