/** Parses quantities such as `100m`, `1.5Gi` or `2e3`. */
import type { JsonValue } from '../../api/json.ts'

const multipliers: Readonly<Record<string, number>> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
}

/** kube-apiserver's message for an invalid quantity (k8s.io/apimachinery/pkg/api/resource: ErrFormatWrong). */
export const invalidQuantity = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

/**
 * Returns the value of a quantity; undefined for an invalid quantity. The precision of a floating-point number is sufficient for the
 * comparisons and the arithmetic of this server.
 */
export function parseQuantity(value: JsonValue | undefined): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return undefined
  const match = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/.exec(value)
  if (match === null) return undefined
  const [, digits = '', exponent, suffix = ''] = match
  return exponent === undefined ? Number(digits) * multipliers[suffix]! : Number(digits + exponent)
}
