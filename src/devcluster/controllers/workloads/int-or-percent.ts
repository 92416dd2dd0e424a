/** Reads fields such as `maxSurge`, whose value is a number or a percentage. */

/**
 * Returns the value of a field as a number. A percentage is a share of `total`. For example, 25% of 10 is 3 with `roundsUp: true`, and 2
 * with `roundsUp: false`. If the field is absent, returns 0 (k8s.io/apimachinery/pkg/util/intstr: GetScaledValueFromIntOrPercent).
 */
export function scaledNumber(field: number | string | undefined, total: number, { roundsUp }: { readonly roundsUp: boolean }): number {
  if (typeof field !== 'string') return field ?? 0
  const exact = (Number.parseInt(field, 10) * total) / 100
  return roundsUp ? Math.ceil(exact) : Math.floor(exact)
}
