/** Compiles the schemas of the webhooks; otherwise the first request would wait for the compilation. */
import type { Kind } from '../api/kind.ts'
import type { Clock } from '../runtime/clock.ts'
import { schemaOf } from '../schema/kind-schema.ts'
import { compileNextBuiltinCheck } from '../schema/to-ajv.ts'

/** Time in milliseconds after which the built-in types are compiled. Before, the process itself is still starting. */
const delayMs = 1000

/** Compiles the schemas of all served versions, without the checks of built-in types. */
export function compileSchemas(kinds: readonly Kind[]): void {
  for (const kind of new Set(kinds)) for (const { name, served } of kind.versions) if (served) schemaOf(kind, name).validate({})
}

/**
 * Compiles the checks of the built-in types in these schemas after a second, one in each turn of the event loop. For a PodSpec, it takes
 * 100 ms, for which the server does not wait: a request that arrives earlier compiles the checks that it needs.
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
