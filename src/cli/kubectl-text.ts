/** Formats the result of `proreus validate` like the messages of kubectl. */
import { formatFieldError, sortFieldErrors } from '../api/field-error.ts'
import type { OfflineReview } from '../webhook/validate-offline.ts'

/**
 * Formats the result for one object, e.g. `The MyPod "x" is invalid: …`. If there are several causes, each cause has its own line. kubectl
 * prints a response with status 422 in the same format.
 */
export function kubectlText(source: string, review: OfflineReview): string {
  const warnings = review.warnings.map((warning) => `Warning: ${warning}\n`).join('')
  const { kind, name } = review
  if (!review.known) return `${warnings}${source}: ${kind} "${name}" skipped: no operator knows this kind\n`
  if (review.valid) return `${warnings}${source}: ${kind} "${name}" is valid\n`
  const causes = sortFieldErrors(review.errors).map(formatFieldError)
  const list = causes.length === 1 ? causes[0] : `\n${causes.map((cause) => `* ${cause}`).join('\n')}`
  return `${warnings}${source}: The ${kind} "${name}" is invalid: ${list}\n`
}
