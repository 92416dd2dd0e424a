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
 * Compiles the checks of the built-in types that the schemas contain, while the server already serves requests. A request that needs a
 * check that is not compiled yet compiles this check itself.
 *
 * The compilation begins after `delayMs`. Each iteration of the event loop compiles one check, because the checks of a PodSpec take 100 ms
 * together.
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
