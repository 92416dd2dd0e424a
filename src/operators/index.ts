/** The operators that this package includes. */
import type { Operator } from 'proreus'
import { cronJobOperator } from './cronjob/index.ts'
import { echoOperator } from './echo/index.ts'
import { memcachedOperator } from './memcached/index.ts'
import { mypodOperator } from './mypod/index.ts'
import { xxxOperatorWith } from './xxx/index.ts'
import { optionsFrom } from './xxx/options.ts'

type Environment = Readonly<Record<string, string | undefined>>

const operators: Readonly<Record<string, (env: Environment) => Operator>> = {
  mypod: () => mypodOperator,
  memcached: () => memcachedOperator,
  echo: () => echoOperator,
  cronjob: () => cronJobOperator,
  xxx: (env) => xxxOperatorWith(optionsFrom(env)),
}

/** The names of all shipped operators. */
export const shippedNames: readonly string[] = Object.keys(operators)

/**
 * Returns a shipped operator. Its options come from environment variables.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when a variable of the operator is invalid.
 */
export function shippedOperator(name: string, env: Environment): Operator {
  return operators[name]!(env)
}

/** Returns all shipped operators, with their default options. */
export function shippedOperators(): readonly Operator[] {
  return shippedNames.map((name) => shippedOperator(name, {}))
}
