/** `memoized`: caches the results of a function whose argument is an object. */

/**
 * Returns a function that calls `compute` once for each input. A result is cached as long as its input exists. An undefined result is not
 * cached.
 */
export function memoized<Input extends object, Output>(compute: (input: Input) => Output): (input: Input) => Output {
  const known = new WeakMap<Input, Output>()
  return (input) => {
    const before = known.get(input)
    if (before !== undefined) return before
    const output = compute(input)
    known.set(input, output)
    return output
  }
}
