/** Functions for a sorted array of unique strings. A change moves all later strings. This is fast enough for a development cluster. */

/** Returns the index of the first key that is equal to or greater than `key`; the number of keys when there is none. */
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
