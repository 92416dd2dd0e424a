/** Formats quantities as kube-apiserver does in errors (k8s.io/apimachinery/pkg/api/resource: Quantity.CanonicalizeBytes). */
import type { JsonValue } from '../../../api/json.ts'

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
/** The quantity 1 in billionths. A billionth is the smallest positive quantity. */
const one = 1_000_000_000n

/** Returns the canonical text of a quantity, such as `1500m` for `1.5`. A text that is not a quantity is returned unchanged. */
export function quantityText(value: JsonValue): string {
  const text = String(value)
  const [, sign, whole = '', fraction = '', exponent, suffix = ''] =
    /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/.exec(text) ?? []
  if (sign === undefined || whole + fraction === '') return text
  const binary = binarySuffixes.indexOf(suffix)
  const power = exponent === undefined ? (binary < 0 ? 3 * (decimalSuffixes.indexOf(suffix) - 3) : 0) : Number(exponent)
  const scale = power + 9 - fraction.length
  const multiplied = BigInt(whole + fraction) * 1024n ** BigInt(Math.max(binary, 0)) * 10n ** BigInt(Math.max(scale, 0))
  const divisor = 10n ** BigInt(Math.max(-scale, 0))
  const amount = (multiplied + divisor - 1n) / divisor
  if (amount === 0n) return '0'
  const minus = sign === '-' ? '-' : ''
  const isBinary = binary > 0 && amount >= 1024n * one && amount % one === 0n
  return minus + (isBinary ? binaryText(amount / one) : decimalText(amount, exponent !== undefined))
}

function binaryText(amount: bigint): string {
  let [rest, power] = [amount, 0]
  for (; rest % 1024n === 0n && power < binarySuffixes.length - 1; power += 1) rest /= 1024n
  return `${rest}${binarySuffixes[power]!}`
}

/**
 * Formats a quantity that is given in billionths. If `hasExponent` is true, the text has an exponent of ten, such as `e3`. Otherwise, the
 * text has a decimal suffix, such as `k`. The exponent is always a multiple of three.
 */
function decimalText(billionths: bigint, hasExponent: boolean): string {
  let [rest, power] = [billionths, 0]
  for (; rest % 1000n === 0n && power < decimalSuffixes.length - 1; power += 1) rest /= 1000n
  const exponent = 3 * (power - 3)
  return `${rest}${hasExponent ? (exponent === 0 ? '' : `e${exponent}`) : decimalSuffixes[power]!}`
}
