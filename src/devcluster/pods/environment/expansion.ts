/** `expand`: replaces references such as `$(NAME)` by the values of variables (k8s.io/kubernetes/third_party/forked/golang/expansion). */
import { ContainerConfigError } from './container-config-error.ts'

/**
 * The maximum length of an argument or a variable of a process, in bytes (Linux: MAX_ARG_STRLEN, without the final NUL). References can
 * make a text much longer. Without this limit, a small Pod could fill the memory of Proreus.
 */
export const maxArgumentBytes = 131_071
/**
 * The maximum total length of all arguments and variables of a process, in bytes. This maximum is 3/4 of Linux's constant _STK_LIM (8 MiB).
 * Linux applies this maximum even if the stack limit of the process is higher.
 */
export const maxTotalBytes = 6 * 1024 * 1024

/**
 * Replaces `$(NAME)` by `mapping(NAME)` and `$$` by `$`. All other text stays unchanged.
 *
 * @throws {ContainerConfigError} when the result has more than `maxArgumentBytes` UTF-16 units. Such a result also has more than
 *   `maxArgumentBytes` bytes in UTF-8.
 */
export function expand(text: string, mapping: (name: string) => string): string {
  const parts: string[] = []
  let length = 0
  const add = (part: string): void => {
    length += part.length
    if (length > maxArgumentBytes) throw argumentTooLong()
    parts.push(part)
  }
  let copied = 0
  // A `$(` without a later `)` is not a reference. Without `lastCloser`, each such `$(` would search the rest of the text for a `)`, and
  // the time would grow with the square of the length of the text.
  const lastCloser = text.lastIndexOf(')')
  for (let at = text.indexOf('$'); at !== -1; at = text.indexOf('$', at)) {
    if (text[at + 1] === '$') {
      add(text.slice(copied, at + 1))
      copied = at + 2
    } else if (text[at + 1] === '(' && at < lastCloser) {
      const end = text.indexOf(')', at)
      add(text.slice(copied, at))
      add(mapping(text.slice(at + 2, end)))
      copied = end + 1
    }
    at = Math.max(at + 1, copied)
  }
  add(text.slice(copied))
  return parts.join('')
}

/**
 * Returns a function that looks up a name in the maps, from the first map to the last. If no map contains the name, the function returns
 * the reference `$(NAME)`.
 */
export function mappingOf(...maps: readonly ReadonlyMap<string, string>[]): (name: string) => string {
  return (name) => {
    for (const map of maps) {
      const value = map.get(name)
      if (value !== undefined) return value
    }
    return `$(${name})`
  }
}

/** Returns the error of a process whose arguments or variables are too long (execve: E2BIG). */
export function argumentTooLong(): ContainerConfigError {
  return new ContainerConfigError('exec: argument list too long', { reason: 'RunContainerError' })
}
