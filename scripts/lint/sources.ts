/**
 * `sources`: rules for code that a simulation runs. In this code, times must come from the parameter `clock`, and random numbers from the
 * parameter `random`. Only `TimeSlices` may wait for the next iteration of the event loop. The rules forbid all other sources.
 */
import type { Linter } from 'eslint'

const useClock = 'Take a `Clock` as a parameter, so that tests and simulations control the time (src/runtime/clock.ts).'
const useRandom = 'Take `random` as a parameter, so that tests and simulations can repeat the choices (src/runtime/random.ts).'
const useSlices = 'Use `TimeSlices`, the only source of turns of the event loop (src/runtime/time-slices.ts).'

const globals = [
  ...['performance', 'setTimeout', 'setInterval'].map((name) => ({ name, message: useClock })),
  { name: 'crypto', message: useRandom },
  { name: 'setImmediate', message: useSlices },
]

export const sources: Linter.RulesRecord = {
  'no-restricted-globals': ['error', { globals, checkGlobalObject: true }],
  'no-restricted-properties': [
    'error',
    { object: 'Date', property: 'now', message: useClock },
    { object: 'AbortSignal', property: 'timeout', message: useClock },
    { object: 'process', property: 'hrtime', message: useClock },
    { object: 'process', property: 'nextTick', message: useSlices },
    { object: 'Math', property: 'random', message: useRandom },
    { property: 'randomUUID', message: useRandom },
  ],
  'no-restricted-syntax': [
    'error',
    { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: useClock },
    { selector: "CallExpression[callee.name='Date']", message: useClock },
    { selector: 'ImportDeclaration[source.value=/^(node:)?(timers|perf_hooks)\\b/]', message: useClock },
    { selector: 'ImportDeclaration[source.value=/^(node:)?crypto$/] > ImportSpecifier[imported.name=/^random/]', message: useRandom },
  ],
}
