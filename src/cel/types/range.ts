/** Ranges of sizes and costs. A sum or product beyond 2^64 becomes 2^64, as in cel-go (`cel-go/checker: cost.go`). */

export interface Range {
  readonly min: number
  readonly max: number
}

const most = 2 ** 64

export const unknown: Range = { min: 0, max: most }

export function fixed(value: number): Range {
  return { min: value, max: value }
}

function capped(value: number): number {
  return value >= most || Number.isNaN(value) ? most : value
}

export function add(a: Range, b: Range): Range {
  return { min: capped(a.min + b.min), max: capped(a.max + b.max) }
}

export function multiply(a: Range, b: Range): Range {
  return { min: product(a.min, b.min), max: product(a.max, b.max) }
}

function product(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : capped(a * b)
}

/** Multiplies a range by a factor and rounds up. */
export function scale(range: Range, factor: number): Range {
  return { min: capped(Math.ceil(range.min * factor)), max: capped(Math.ceil(range.max * factor)) }
}

export function union(a: Range, b: Range): Range {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) }
}
