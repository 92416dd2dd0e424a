/** Compiles the schemas of the webhooks in advance, so the first request does not have to wait for the compilation. */
import type { Kind } from '../api/kind.ts'
import type { Clock } from '../runtime/clock.ts'
import { schemaOf } from '../schema/kind-schema.ts'
import { compileNextBuiltinCheck } from '../schema/to-ajv.ts'

/**
 * Delay in milliseconds before the compilation of the checks of the built-in types begins. The delay gives the process time to complete its
 * start first.
 */
const delayMs = 1000

/**
 * Compiles the schema of each served version of the kinds. The checks of the built-in types in these schemas are not compiled;
 * `compileBuiltinTypes` compiles them later.
 */
export function compileSchemas(kinds: readonly Kind[]): void {
  for (const kind of new Set(kinds)) for (const { name, served } of kind.versions) if (served) schemaOf(kind, name).validate({})
}

/**
 * Compiles the checks of the built-in types that the schemas contain. The compilation begins after `delayMs`. One check is compiled in each
 * iteration of the event loop. The compilation of the checks of a PodSpec takes 100 ms. The server does not wait for the compilation. If a
 * request needs a check that is not compiled yet, the request compiles this check.
 *
 * @returns the function that stops the compilation.
 */
export function compileBuiltinTypes(clock: Clock): () => void {
  let next: NodeJS.Immediate | undefined
  const compileOne = (): void => {
    next = compileNextBuiltinCheck() ? setImmediate(compileOne) : undefined
  }
  const timer = clock.after(delayMs, compileOne)
  return () => {
    timer.cancel()
    clearImmediate(next)
  }
}
