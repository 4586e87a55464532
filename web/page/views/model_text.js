// Runs a trained model on a text, step by step: a translator translates it, a causal model continues it, a masked model fills in
// its masks, an encoder compares its lines.
// explorer.model_text.KIND(...) returns {said, written, layers, first, attend, command} or {problem}.
'use strict';

(() => {
  const explorer = globalThis.explorer, {models} = explorer;
  const kGuesses = '8', kMostTokens = 512, kLooked = 48, kLookedPieces = 160;  // characters of a text in a map

  const without = (off) => off ? ['--without-positions'] : [];
  const line = (name, folder, off, command, ...more) => [command, '--model', folder ? models.folder(name) : models.shown(name), ...without(off), ...more];

  // The output of logit-lens --json as layers: [{name, predictions: one list per token of the input}].
  async function predictions(name, off, texts) {
    const answer = await models.run(name, line(name, true, off, 'logit-lens', '--json', '--top-k', kGuesses, '--', ...texts));
    return answer.code === 0 ? JSON.parse(answer.out) : {problem: explorer.problem(answer)};
  }

  explorer.model_text = {
    // For translators `text` is the source.
    async translator({name, off, text}) {
      const answer = await models.run(name, line(name, true, off, 'translate', '--json', '--', text));
      if (answer.code !== 0) return {problem: explorer.problem(answer)};
      const {translations: [best], taught} = JSON.parse(answer.out);
      const guess = await predictions(name, off, [text]);
      if (guess.problem) return guess;
      const last = guess.layers.at(-1);
      return {
        said: best?.text ?? '', sure: best?.probability, taught, layers: guess.layers, first: 0, attend: [text],
        written: guess.next.map((token, i) => ({token, alternatives: last.predictions[i]})),
        command: line(name, false, off, 'translate', '--', text),
        lens_command: line(name, false, off, 'logit-lens', '--top-k', kGuesses, '--', text),
      };
    },

    // For language models `text` is the prompt; options are {max-tokens, temperature, top-k, seed}.
    async causal({name, off, text, options, info}) {
      const given = Object.entries(options).flatMap(([option, value]) => ['--' + option, value]);
      const answer = await models.run(name, line(name, true, off, 'generate', ...given, '--alternatives', kGuesses, '--json', `--prompt=${text}`));
      if (answer.code !== 0) return {problem: explorer.problem(answer)};
      const made = JSON.parse(answer.out), whole = text + made.text;
      const guess = await predictions(name, off, [whole]);
      const rows = guess.problem ? 0 : guess.tokens.length;
      return {
        said: made.text, layers: guess.problem ? [] : guess.layers, layers_problem: guess.problem && `layers are shown for at most ${kMostTokens} tokens`,
        first: rows - made.tokens.length - 1, written: made.steps, prompt: text,
        // The attention up to a token is that of its own text and the text before it.
        attend_to: (i) => [[...text + explorer.text_of_tokens(made.tokens.slice(0, i), info)].slice(explorer.is_published(info) ? -kLookedPieces : -kLooked).join('')],
        command: line(name, false, off, 'generate', ...given, `--prompt=${text}`),
        lens_command: line(name, false, off, 'logit-lens', '--top-k', kGuesses, '--', whole),
      };
    },

    // For masked models each mask is a token of the output. The predictions of a layer stand at the mask itself.
    async masked({name, off, text}) {
      const answer = await models.run(name, line(name, true, off, 'generate', '--top-k', kGuesses, '--json', `--fill=${text}`));
      if (answer.code !== 0) return {problem: explorer.problem(answer)};
      const {filled, masks} = JSON.parse(answer.out);
      const written = masks.map(({tokens, probabilities}) => ({token: tokens[0], alternatives: tokens.map((token, i) => ({token, probability: probabilities[i]}))}));
      // RoBERTa writes its mask in another way.
      const readings = [text, text.replaceAll('[MASK]', '<mask>')];
      let guess = {}, rows = [], read = text;
      for (read of readings) {
        guess = await predictions(name, off, [read]);
        rows = guess.problem ? [] : guess.tokens.flatMap((token, i) => token === '[MASK]' || token === '<mask>' ? [i] : []);
        if (rows.length === written.length) break;
      }
      const known = rows.length === written.length;
      return {
        said: filled, written, layers: known ? guess.layers : [], layers_problem: guess.problem ? `layers are shown for at most ${kMostTokens} tokens` : 'its masks were not found',
        rows, attend: [filled], command: line(name, false, off, 'generate', `--fill=${text}`),
        lens_command: line(name, false, off, 'logit-lens', '--top-k', kGuesses, '--', read),
      };
    },

    // For encoders each line is a text; a click on one shows its attention.
    async encoder({name, off, text}) {
      const lines = text.split('\n').map((one) => one.trim()).filter((one) => one !== '');
      const args = (folder, ...more) => line(name, folder, off, 'embed', ...more, '--', ...lines);
      const answer = await models.run(name, args(true, ...explorer.width_args(), '-o', '/similarity.svg'), {read: ['/similarity.svg']});
      if (answer.code !== 0) return {problem: explorer.problem(answer)};
      return {
        svg: answer.files['/similarity.svg'], said: '', written: lines.map((token) => ({token, is_text: true})), layers: [],
        attend_to: (i) => [lines[i]], command: args(false), similarities: () => models.run(name, args(true, '--json')),
      };
    },
  };
})();
