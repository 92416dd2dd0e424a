/**
 * A set of completion indexes. A Job may have up to 2147483647 indexes, so the set stores intervals instead of single indexes
 * (k8s.io/kubernetes/pkg/controller/job: orderedIntervals).
 */
export class IndexSet {
  /**
   * The first and the last index of each interval. The intervals are sorted. Neighboring intervals are separated by at least one missing
   * index.
   */
  readonly #intervals: readonly Interval[]
  /** The number of indexes. */
  readonly size: number

  /** @param intervals The intervals may have any order, and may overlap. */
  constructor(intervals: Iterable<Interval> = []) {
    const merged: [number, number][] = []
    for (const [first, end] of [...intervals].sort(([a], [b]) => a - b)) {
      const last = merged.at(-1)
      if (last === undefined || first > last[1] + 1) merged.push([first, end])
      else last[1] = Math.max(last[1], end)
    }
    this.#intervals = merged
    this.size = merged.reduce((sum, [first, last]) => sum + last - first + 1, 0)
  }

  static of(indexes: Iterable<number>): IndexSet {
    return new IndexSet(Array.from(indexes, (index) => [index, index] as const))
  }

  [Symbol.iterator](): Iterator<Interval> {
    return this.#intervals[Symbol.iterator]()
  }

  has(index: number): boolean {
    let [low, high] = [0, this.#intervals.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#intervals[middle]![1] >= index) high = middle
      else low = middle + 1
    }
    const found = this.#intervals[low]
    return found !== undefined && found[0] <= index
  }

  union(...others: readonly IndexSet[]): IndexSet {
    return new IndexSet([this, ...others].flatMap((set) => [...set]))
  }

  /** Returns the number of indexes that both sets contain. */
  overlap(other: IndexSet): number {
    return this.size + other.size - this.union(other).size
  }

  /** Returns the first `count` indexes below `end` that the set does not contain. */
  missing(count: number, end: number): readonly number[] {
    const found: number[] = []
    let next = 0
    for (const [first, last] of [...this.#intervals, [end, end]] as const) {
      for (; next < first && next < end && found.length < count; next += 1) found.push(next)
      next = last + 1
    }
    return found
  }

  /** Formats the indexes as intervals, e.g. `"0-2,5"`. An interval of only two indexes is formatted as a list, e.g. `"0,1"`. */
  toString(): string {
    const texts = this.#intervals.map(([first, last]) =>
      first === last ? String(first) : `${first}${last === first + 1 ? ',' : '-'}${last}`,
    )
    return texts.join(',')
  }
}

type Interval = readonly [first: number, last: number]
