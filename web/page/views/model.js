// Trained models: shows their output, the alternatives at each token, the predictions of each layer, the attention, and the output
// without positions.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state, models} = explorer;
  const kDate = 'the third of march nineteen ninety-nine', kPrompt = 'ROMEO:\nI am ';
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
      const pairs = () => info.config.kind === 'translator';
      const text = () => pairs() ? state.get('date', kDate) : state.get('prompt', kPrompt);
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
        tokens.replaceChildren(explorer.token_row(found.written, i, choose));
        if (focus) tokens.querySelectorAll('button')[i]?.focus();
        const one = found.written[i];
        const take = pairs() ? null : (token) => {
          state.set({prompt: found.prompt + found.written.slice(0, i).map((before) => before.token).join('') + token, at: null});
          draw_controls();
          write();
        };
        chosen.replaceChildren(...one === undefined ? [] : [
          make('section', {}, make('h3', {}, `Token ${i + 1}: ${explorer.token_text(one.token)}`), explorer.next_tokens(one, take)),
          make('section', {}, make('h3', {}, 'Each layer\'s own prediction'), found.layers.length > 0 ? explorer.logit_lens(found.layers, found.first + i, one.token)
            : make('p', {class: 'note'}, found.layers_problem))]);
        looks.draw();
      }

      const write = explorer.later(async () => {
        const mine = ++asked, ask = {name: name(), text: text(), options: generation.values()}, make_text = explorer.model_text[info.config.kind];
        said.setAttribute('aria-busy', 'true');
        const [now, before] = await Promise.all([make_text({...ask, off: off()}), off() ? make_text({...ask, off: false}) : null]);
        if (mine !== asked) return;
        said.removeAttribute('aria-busy');
        explorer.forget_problems();
        if (now.problem) {
          found = null;
          explorer.show_problem({err: now.problem}, said);
          for (const one of [tokens, chosen, looks.place]) one.replaceChildren();
          return;
        }
        found = now;
        const wrote = (label, result) => make('p', {class: 'translation'}, make('span', {class: 'label'}, label),
          make('output', {class: pairs() ? 'written' : 'written long'}, pairs() ? result.said : result.prompt, pairs() ? null : make('b', {}, result.said)),
          result.sure === undefined ? null : explorer.sure(result));
        said.replaceChildren(...before ? [wrote('Without positions ', now), wrote('With positions ', before)] : [wrote(pairs() ? 'It writes ' : 'It continues ', now)]);
        choose(at(), false);
      }, 200);

      function draw_controls() {
        const input = pairs() ? make('input', {value: text(), maxlength: 200, spellcheck: 'false'}) : make('textarea', {rows: 2, maxlength: 400, spellcheck: 'false'});
        if (!pairs()) input.value = text();
        input.addEventListener('input', () => {
          const [key, start] = pairs() ? ['date', kDate] : ['prompt', kPrompt];
          state.set({[key]: input.value === start ? null : input.value, at: null});
          write();
        });
        const more = (key) => () => {
          state.set({[key]: String(Number(generation.value(key)) + 1)});
          draw_controls();
          write();
        };
        controls.replaceChildren(
          field(pairs() ? 'Text to translate' : 'Beginning of the text', input, info.taught ? `${info.taught}, in words, as "Saturday, March 14th, 2026"` : '', pairs() ? 'text' : 'prompt'),
          ...pairs() ? [] : [make('div', {class: 'parameters'}, ...generation.fields(write)),
          make('div', {class: 'row'}, make('button', {type: 'button', onclick: more('max-tokens')}, 'One token more'),
            make('button', {type: 'button', onclick: more('seed')}, 'Another text'))]);
      }

      async function draw_model() {
        const mine = ++asked, described = await models.info(name());
        if (mine !== asked) return;
        if (described.problem) return said.replaceChildren(bad(described.problem));
        info = described;
        about.replaceChildren(make('p', {class: 'note'}, `${info.parameters.toLocaleString('en')} parameters, width ${info.config.width}, ${info.config.heads} heads; a token is a ${info.tokenizer}.`), explorer.diagram(info, off()));
        draw_controls();
        write();
      }

      const other = {at: null, part: null, layer: null, head: null};
      function draw_choice() {
        which.replaceChildren(field('Model', select(models.names().map((one) => [one, models.title(one)]), name(), (value) => {
          state.set({...other, model: value === 'shipped' ? null : value});
          draw_model();
        })));
      }
      const load = explorer.drop_place({label: 'Your own model folder', folder: true,
        help: `Drop or choose the folder of a run of \`sextant train\`, or a folder with config.json, model.safetensors and tokenizer.json. It stays on your computer. ${explorer.kOpens}`,
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
