/** `missingRule`: derives the missing RBAC rule from the error of a forbidden request, for the advice in log lines. */
import type { PolicyRule } from '../api/policy-rule.ts'
import { errorFields } from '../telemetry/error-fields.ts'
import { isForbidden } from './api-error.ts'

/**
 * Matches the message of the API server's authorizer (k8s.io/apiserver/pkg/endpoints/handlers/responsewriters: forbiddenMessage). Admission
 * plugins and webhooks may also respond with 403. The expression does not match their messages, because an RBAC rule would not prevent
 * these errors.
 */
const refusal = /\bUser "(?:[^"\\]|\\.)*" cannot (\S+) (?:resource "([^"]+)" in API group "([^"]*)"|path "([^"]+)")/

/**
 * Returns the missing RBAC rule if a forbidden request has caused `error`; undefined otherwise. The `ApiError` of the forbidden request may
 * be `error` itself, a cause of `error`, or an error of an `AggregateError`.
 */
export function missingRule(error: unknown): PolicyRule | undefined {
  if (!(error instanceof Error)) return undefined
  if (isForbidden(error)) return ruleIn(error.message)
  const parts: readonly unknown[] = error instanceof AggregateError ? error.errors : [error.cause]
  for (const part of parts) {
    const rule = missingRule(part)
    if (rule !== undefined) return rule
  }
  return undefined
}

function ruleIn(message: string): PolicyRule | undefined {
  const [, verb, resource, group, path] = refusal.exec(message) ?? []
  if (verb === undefined) return undefined
  if (resource !== undefined && group !== undefined) return { apiGroups: [group], resources: [resource], verbs: [verb] }
  return path === undefined ? undefined : { apiGroups: [], resources: [], nonResourceURLs: [path], verbs: [verb] }
}

/** Returns advice to append to the message of an error; an empty string when no RBAC rule is missing. */
export function permissionAdvice(error: unknown, part: 'controller' | 'webhook' | 'operator'): string {
  const rule = missingRule(error)
  return rule === undefined ? '' : `: it lacks a permission; add ${ruleText(rule)} to the \`rbac\` of the ${part}, and apply its RBAC anew`
}

/**
 * An error about a missing permission is logged with its chain of causes. This constant is the maximum number of logged errors, including
 * the first one.
 */
const maxCauses = 12

/**
 * Returns the value to log for an error. If the cause of the error is a missing permission, the value contains no stack: the code in the
 * stack is not the cause, and the message already contains the verb and the resource. The stacks of an AggregateError are kept.
 */
export function loggedError(error: unknown): unknown {
  if (!(error instanceof Error) || missingRule(error) === undefined) return error
  const { stack: _stack, ...fields } = errorFields(error, maxCauses)
  // An AggregateError is logged with all stacks, because it may also contain errors that are not caused by the missing permission.
  return 'aggregateErrors' in fields ? error : fields
}

/** Formats the rule as TypeScript code. */
function ruleText(rule: PolicyRule): string {
  const fields = Object.entries(rule).map(([name, values]: [string, readonly string[]]) => {
    return `${name}: [${values.map((value) => `'${value}'`).join(', ')}]`
  })
  return `{ ${fields.join(', ')} }`
}
