// The verdict on a race, and its losses as numbers.
'use strict';

(() => {
  const explorer = globalThis.explorer;
  const kWhy = {
    copy: 'The first letter must be written first: without positions the encoder sees the letters, but not their places.',
    reverse: 'The last letter must be written first: without positions the encoder sees the letters, but not their places.',
    sort: 'Sorting needs only the number of each letter: the order of the input does not matter.',
    dates: 'The neighbours of a number show whether it is the day or the year: without positions there are no neighbours.'};
  explorer.why_positions = (task) => kWhy[task];

  explorer.losses_csv = (runs) => 'scheme,step,loss,mean_loss,validation_loss\n' + runs.flatMap((run) => run.lines.map((line) => {
    const {step, loss, mean_loss, validation_loss = ''} = JSON.parse(line);
    return [run.scheme, step, loss, mean_loss, validation_loss].join(',');
  })).join('\n') + '\n';
})();
