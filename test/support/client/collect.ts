/** `collect`: reads an asynchronous iterable to its end. */

/** Returns all values of an asynchronous iterable. */
export async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const value of values) all.push(value)
  return all
}
