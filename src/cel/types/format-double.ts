/**
 * Formats a float like Go's `strconv.FormatFloat` with format `g` and precision -1: with the fewest digits that identify the float, and
 * with an exponent if it is below 1e-4, or 1e6 and above.
 */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (Object.is(value, -0)) return '-0'
  const [digits = '', exponent = '0'] = value.toExponential().split('e')
  const power = Number(exponent)
  if (power >= -4 && power < 6) return String(value)
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}
