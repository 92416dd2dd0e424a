/**
 * Functions for a sorted array of unique strings. Inserting or removing a string moves all later strings of the array. For the number of
 * objects in a development cluster, this is fast enough.
 */

/** Returns the index of the first key that is equal to or greater than `key`; `keys.length` when all keys are less. */
export function firstAtOrAfter(keys: readonly string[], key: string): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (keys[middle]! < key) low = middle + 1
    else high = middle
  }
  return low
}

export function insertSorted(keys: string[], key: string): void {
  const index = firstAtOrAfter(keys, key)
  if (keys[index] !== key) keys.splice(index, 0, key)
}

export function removeSorted(keys: string[], key: string): void {
  const index = firstAtOrAfter(keys, key)
  if (keys[index] === key) keys.splice(index, 1)
}
