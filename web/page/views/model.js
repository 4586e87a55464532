// Trained models: shows their output, the alternatives at each token, the predictions of each layer, the attention, and the output
// without positions.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state, models} = explorer;
  const generation = explorer.command_options('generate', ['max-tokens', 'temperature', 'top-k', 'seed'], {'max-tokens': '60'});

  explorer.views.model = {
    title: 'Trained models',
    async show(place) {
      const {field, select} = explorer;
      const about = make('div', {class: 'about'}), which = make('div'), controls = make('div'), said = make('div', {class: 'said'});
      const tokens = make('div'), chosen = make('div', {class: 'columns'});
      let asked = 0, found = null, info = null;

      const name = () => models.has(state.get('model', 'shipped')) ? state.get('model', 'shipped') : 'shipped';
      const off = () => state.get('off') === 'yes';
      const kind = () => explorer.kind_of(info), of = () => explorer.model_kinds[kind()];
      const text = () => state.get(of().key, of().start(info));
      const at = () => Math.min(Math.max(Number(state.get('at', '0')) || 0, 0), Math.max(found.written.length - 1, 0));
      const set = (key, fallback, then) => (value) => {
        state.set({[key]: value === fallback ? null : value});
        then();
      };
      const bad = (words) => make('p', {class: 'verdict bad', role: 'alert'}, words);
      const looks = explorer.model_looks(() => ({name: name(), off: off(), info, found, at: at(), text: text(), options: generation.values()}));

      // A written token: the alternatives to it and the prediction of each layer.
      function choose(i, focus = true) {
        state.set({at: i === 0 ? null : i});
        tokens.replaceChildren(explorer.token_row(found.written, i, choose, kind() === 'encoder' ? 'Texts: choose one' : undefined));
        if (focus) tokens.querySelectorAll('button')[i]?.focus();
        const one = found.written[i], what = kind() === 'masked' ? 'masked' : 'next';
        const take = kind() !== 'causal' ? null : (token) => {
          state.set({prompt: found.prompt + explorer.text_of_tokens([...found.written.slice(0, i).map((before) => before.token), token], info), at: null});
          draw_controls();
          write();
        };
        chosen.replaceChildren(...one?.alternatives === undefined ? [] : [
          make('section', {}, make('h3', {}, `Token ${i + 1}: ${explorer.token_text(one.token)}`), explorer.next_tokens(one, take, what)),
          make('section', {}, make('h3', {}, 'Each layer\'s own prediction'), found.layers.length > 0 ? explorer.logit_lens(found.layers, found.rows ? found.rows[i] : found.first + i, one.token, what)
            : make('p', {class: 'note'}, found.layers_problem))]);
        looks.draw();
      }

      // The picture of similarities, whose cells can be read.
      function similarity(label, result) {
        const picture = explorer.picture_place('Similarity of the texts; arrow keys read its cells'), reading = make('p', {class: 'reading', role: 'status'});
        let numbers = null;
        explorer.show_svg(picture, result.svg);
        explorer.read_maps(picture, reading, async (cell) => {
          numbers ??= result.similarities().then((answer) => answer.code === 0 ? JSON.parse(answer.out).similarities : null);
          const value = await numbers && explorer.number_at(await numbers, cell);
          return value === null || value === undefined ? '' : `'${result.written[cell.row].token}' and '${result.written[cell.column].token}': ${value}`;
        });
        return make('div', {class: 'similar'}, label === '' ? null : make('span', {class: 'label'}, label), picture, reading);
      }

      const write = explorer.later(async () => {
        const mine = ++asked, ask = {name: name(), text: text(), options: generation.values(), info}, make_text = explorer.model_text[kind()];
        said.setAttribute('aria-busy', 'true');
        const [now, before] = await Promise.all([make_text({...ask, off: off()}), off() ? make_text({...ask, off: false}) : null]);
        if (mine !== asked || !place.isConnected) return;
        said.removeAttribute('aria-busy');
        explorer.forget_problems();
        if (now.problem) {
          found = null;
          explorer.show_problem({err: now.problem}, said);
          for (const one of [tokens, chosen, looks.place]) one.replaceChildren();
          return;
        }
        found = now;
        const wrote = (label, result) => result.svg ? similarity(label, result) : make('p', {class: 'translation'}, make('span', {class: 'label'}, label),
          make('output', {class: kind() === 'translator' ? 'written' : 'written long'}, result.prompt ?? result.said, result.prompt === undefined ? null : make('b', {}, result.said)),
          result.sure === undefined ? null : explorer.sure(result));
        said.replaceChildren(...before ? [wrote('Without positions ', now), wrote('With positions ', before)] : [wrote(of().says, now)]);
        choose(at(), false);
      }, 200);

      function draw_controls() {
        const {key, label, option, lines, start, help} = of();
        const input = lines === 1 ? make('input', {value: text(), maxlength: 200, spellcheck: 'false'}) : make('textarea', {rows: lines, maxlength: 400 * Math.max(1, lines - 1), spellcheck: 'false'});
        input.value = text();
        input.addEventListener('input', () => {
          state.set({[key]: input.value === start(info) ? null : input.value, at: null});
          write();
        });
        const more = (name_of) => () => {
          state.set({[name_of]: String(Number(generation.value(name_of)) + 1)});
          draw_controls();
          write();
        };
        const task = explorer.can_compare(info) ? field('Task', select([['', 'fill in [MASK]'], ['compare', 'compare texts by their vectors']], state.get('do'), (value) => {
          state.set({do: value === '' ? null : value, at: null});
          draw_model();
        })) : null;
        controls.replaceChildren(...[task, field(label, input, help(info), option)].filter((one) => one),
          ...kind() !== 'causal' ? [] : [make('div', {class: 'parameters'}, ...generation.fields(write)),
          make('div', {class: 'row'}, make('button', {type: 'button', onclick: more('max-tokens')}, 'One token more'),
            make('button', {type: 'button', onclick: more('seed')}, 'Another text'))]);
      }

      async function draw_model() {
        const mine = ++asked, described = await models.info(name());
        if (mine !== asked) return;
        if (described.problem) return said.replaceChildren(bad(described.problem));
        info = described;
        about.replaceChildren(make('p', {class: 'note'}, `${info.parameters.toLocaleString('en')} parameters, width ${info.config.width}, ${info.config.heads} heads; ${explorer.is_published(info) ? 'its tokens are those of its tokenizer.json' : `a token is a ${info.tokenizer}`}.`), explorer.diagram(info, off()));
        draw_controls();
        write();
      }

      const other = {at: null, part: null, layer: null, head: null, do: null};
      function draw_choice() {
        which.replaceChildren(field('Model', select(models.names().map((one) => [one, models.title(one)]), name(), (value) => {
          state.set({...other, model: value === 'shipped' ? null : value});
          draw_model();
        })));
      }
      const load = explorer.drop_place({label: 'Your own model folder', folder: true,
        help: `Drop or choose the folder of a model of Hugging Face (config.json, model.safetensors, tokenizer.json), of at most ${explorer.kMostMegabytes} MB, or the folder of a run of \`sextant train\`. It stays on your computer. ${explorer.kOpens}`,
        take: async (files) => {
          const problem = await explorer.load_model_folder(files);
          if (problem !== '') return problem;
          state.set({...other, model: 'own'});
          draw_choice();
          draw_model();
          return '';
        }});

      draw_choice();
      place.replaceChildren(
        make('p', {}, 'These weights are not random: they were learned. See the output of a model, the alternatives at each token, the prediction of each layer, and the attention. Then switch its positions off.'),
        which, field('Positions', select([['', 'on'], ['yes', 'off: the same weights without positions']], state.get('off'), set('off', '', draw_model))), controls,
        said, tokens, chosen, looks.place, make('h3', {}, 'Where its positions act'), about, load);
      await draw_model();
    },
  };
})();
