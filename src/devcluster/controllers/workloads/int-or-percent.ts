/** Reads fields such as `maxSurge`, whose value is a number or a percentage. */

/**
 * Returns the value of a field as a number. A percentage refers to `total`. For example, if `total` is 10, 25% is 3 if `roundsUp` is true,
 * and 2 if `roundsUp` is false. If the field is absent, returns 0 (k8s.io/apimachinery/pkg/util/intstr: GetScaledValueFromIntOrPercent).
 */
export function scaledNumber(field: number | string | undefined, total: number, { roundsUp }: { readonly roundsUp: boolean }): number {
  if (typeof field !== 'string') return field ?? 0
  const exact = (Number.parseInt(field, 10) * total) / 100
  return roundsUp ? Math.ceil(exact) : Math.floor(exact)
}
