/**
 * `sources`: rules for code that a simulation runs. Only these sources are allowed:
 *
 * - for times: the parameter `clock`
 * - for random numbers: the parameter `random`
 * - for the next iteration of the event loop: `TimeSlices` and `endOfTurn`
 *
 * `systemClock` is allowed only as the default value of an option `clock`, and `systemRandom` only as the default value of an option
 * `random`.
 */
import type { Linter } from 'eslint'

const useClock = 'Take a `Clock` as a parameter, so that tests and simulations control the time (src/runtime/clock.ts).'
const useRandom = 'Take `random` as a parameter, so that tests and simulations can repeat the choices (src/runtime/random.ts).'
const useSlices =
  'Use `TimeSlices` or `endOfTurn`, the only sources of turns of the event loop (src/runtime/time-slices.ts, src/runtime/end-of-turn.ts).'

const globals = [
  ...['performance', 'setTimeout', 'setInterval'].map((name) => ({ name, message: useClock })),
  { name: 'crypto', message: useRandom },
  { name: 'setImmediate', message: useSlices },
]

/**
 * Returns an ESLint selector that matches each use of an identifier, with two exceptions:
 *
 * - an import of the identifier
 * - the identifier as the default value of an option
 *
 * @param source the name of the identifier.
 * @param option the name of the option.
 */
function usesOf(source: string, option: string): string {
  const allowed = [
    'ImportSpecifier > Identifier',
    `LogicalExpression[operator='??'][left.property.name='${option}'] > Identifier.right`,
    `ObjectPattern > Property > AssignmentPattern[left.name='${option}'] > Identifier.right`,
  ]
  return `Identifier[name='${source}']${allowed.map((selector) => `:not(${selector})`).join('')}`
}

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
    { selector: usesOf('systemClock', 'clock'), message: useClock },
    { selector: usesOf('systemRandom', 'random'), message: useRandom },
    // An import must not rename `systemClock` or `systemRandom`, because the two selectors above match only these names.
    { selector: "ImportSpecifier[imported.name='systemClock'][local.name!='systemClock']", message: useClock },
    { selector: "ImportSpecifier[imported.name='systemRandom'][local.name!='systemRandom']", message: useRandom },
  ],
}
