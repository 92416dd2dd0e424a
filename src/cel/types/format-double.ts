/**
 * Formats a float like Go's `strconv.FormatFloat` with format `g` and precision -1: with the fewest digits that identify the float. If the
 * decimal exponent is less than -4 or greater than 5, the result has scientific notation, such as `1e+06`.
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
