/** Durations in kubectl's AGE column (k8s.io/apimachinery/pkg/util/duration: HumanDuration). */

/**
 * Formats a duration in one unit, or in two units when the number of the larger unit is small: `59s`, `2m5s`, `3h10m`, `2d1h`, `400d`,
 * `3y12d`.
 */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000)
  // A negative duration is valid if it is greater than -2 s, because the clocks of the server and the client can differ. For such a
  // duration, the truncated number `seconds` is -1 or 0.
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 60 * 2) return `${seconds}s`
  const minutes = Math.trunc(seconds / 60)
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's')
  if (minutes < 60 * 3) return `${minutes}m`
  const hours = Math.trunc(minutes / 60)
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  if (hours < 24 * 8) return pair(Math.trunc(hours / 24), 'd', hours % 24, 'h')
  if (hours < 24 * 365 * 2) return `${Math.trunc(hours / 24)}d`
  if (hours < 24 * 365 * 8) return pair(Math.trunc(hours / 24 / 365), 'y', Math.trunc(hours / 24) % 365, 'd')
  return `${Math.trunc(hours / 24 / 365)}y`
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`
}
