// What a kind of model reads and what it says: translators, causal models, masked models, and encoders, which have no head.
'use strict';

(() => {
  const explorer = globalThis.explorer, {state} = explorer;

  // The tokens of a published model's tokenizer.json; the others are characters or words.
  explorer.is_published = ({tokenizer}) => tokenizer === 'pretrained';

  // `key` is that of the text in the state; `lines` is the height of its field; `says` stands before the output.
  explorer.model_kinds = {
    translator: {key: 'date', label: 'Text to translate', option: 'text', lines: 1, says: 'It writes ',
      start: (info) => explorer.is_published(info) ? 'translate English to German: How old are you?' : 'the third of march nineteen ninety-nine',
      help: ({taught}) => taught ? `${taught}, in words, as "Saturday, March 14th, 2026"` : ''},
    causal: {key: 'prompt', label: 'Beginning of the text', option: 'prompt', lines: 2, says: 'It continues ',
      start: (info) => explorer.is_published(info) ? 'The zebra chased the lion because' : 'ROMEO:\nI am ', help: () => ''},
    masked: {key: 'fill', label: 'Text with [MASK]', option: 'fill', lines: 2, says: 'It fills in ',
      start: () => 'The zebra chased the [MASK].', help: () => 'Each [MASK] is a token to predict.'},
    encoder: {key: 'lines', label: 'Texts to compare', option: 'embed', lines: 5, says: '',
      start: () => 'A cat sits on the mat.\nA kitten is resting on a rug.\nThe stock market fell today.\nShare prices dropped.',
      help: () => 'One text a line.'},
  };

  // A masked model compares texts too, if the state says so.
  explorer.kind_of = ({config}) => config.kind === 'translator' ? 'translator' : config.logits === false ? 'encoder'
    : config.kind === 'masked' && state.get('do') === 'compare' ? 'encoder' : config.kind;
  explorer.can_compare = ({config}) => config.kind === 'masked' && config.logits !== false;
  // Whether it writes one token after the other.
  explorer.writes = (kind) => kind === 'translator' || kind === 'causal';

  // Tokens as the text that they are, as nearly as pieces of words tell.
  explorer.text_of_tokens = (tokens, info) => explorer.is_published(info) ? tokens.join('').replaceAll('\u2581', ' ') : tokens.join('');
})();
