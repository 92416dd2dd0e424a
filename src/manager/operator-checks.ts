/** The health checks of operators. `/healthz` and `/readyz` evaluate them in addition to the checks of the process. */
import { dns1123Label } from '../api/name-syntax.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { hasOptions, isBoolean, isFunction, isListOf, isText } from '../api/option-checks.ts'
import type { Clock } from '../runtime/clock.ts'
import { timedOut, within } from '../runtime/waiting.ts'
import type { Check } from './health-handler.ts'

/** The health checks of an operator. */
export interface HealthChecks {
  /** Checks of the liveness probe. When one of them fails, the kubelet restarts the container. */
  readonly healthz?: readonly Check[]
  /** Checks of the readiness probe. When one of them fails, the API server does not call the webhooks of this replica. */
  readonly readyz?: readonly Check[]
}

const isCheck = hasOptions({ name: isText, decides: isBoolean, problem: isFunction } satisfies Record<keyof Check, OptionCheck>, [
  'name',
  'problem',
])
export const areChecks: OptionCheck = hasOptions({ healthz: isListOf(isCheck), readyz: isListOf(isCheck) } satisfies Record<
  keyof HealthChecks,
  OptionCheck
>)

/**
 * Names of the checks of the process itself. Checks of operators must have other names. Names such as `controller/NAME` are not in this
 * list, because the name of an operator's check cannot contain a slash.
 */
const ownNames: readonly string[] = [
  'ping',
  'shutdown',
  'webhook',
  'cache',
  'certificates',
  'ca-bundle',
  'leader-election',
  'metrics-certificate',
]

/** Returns the problems of the names of checks. A name must be a DNS label, and differ from the names in `ownNames`. */
export function checkNameProblems(checks: HealthChecks): string[] {
  return [...(checks.healthz ?? []), ...(checks.readyz ?? [])].flatMap(({ name }) => [
    ...dns1123Label(name).map((message) => `checks: "${name}": ${message}`),
    ...(ownNames.includes(name) ? [`checks: "${name}" is a check of the process itself: rename it`] : []),
  ])
}

/** Time limit of a check in milliseconds. It is shorter than one second, the kubelet's default timeout of a probe. */
const limitMs = 900

/**
 * Returns a check with a time limit: if `check.problem` has no result after `limitMs`, the returned check reports a problem. While a call
 * of `check.problem` is pending, later probes of the kubelet wait for the same call, so that pending calls do not accumulate.
 */
export function withTimeLimit(check: Check, clock: Clock): Check {
  let pending: Promise<string | undefined> | undefined
  return {
    ...check,
    async problem() {
      pending ??= Promise.resolve()
        .then(() => check.problem())
        .finally(() => (pending = undefined))
      const result = await within(clock, limitMs, pending)
      return result === timedOut ? `no result within ${limitMs} ms` : result
    },
  }
}
