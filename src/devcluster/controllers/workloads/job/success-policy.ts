/**
 * Applies the success policy of an Indexed Job. The policy allows the Job to succeed before all indexes have succeeded
 * (k8s.io/kubernetes/pkg/controller/job: matchSuccessPolicy).
 */
import type { batch } from '../../../../api/kubernetes/batch.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import type { IndexSet } from './index-set.ts'
import { parseIndexes } from './indexes.ts'

/** Returns the position of the first rule of `spec.successPolicy` that the succeeded indexes satisfy; undefined if they satisfy no rule. */
export function satisfiedRule({ spec }: DeepReadonly<batch.Job>, succeeded: IndexSet): number | undefined {
  if (succeeded.size === 0) return undefined
  const isSatisfied = ({ succeededIndexes, succeededCount = Infinity }: Rule): boolean => {
    if (succeededIndexes === undefined) return succeeded.size >= succeededCount
    const required = parseIndexes(succeededIndexes, spec?.completions ?? 0)
    const count = required.overlap(succeeded)
    return required.size > 0 && (count === required.size || count >= succeededCount)
  }
  const index = spec?.successPolicy?.rules.findIndex(isSatisfied) ?? -1
  return index === -1 ? undefined : index
}

interface Rule {
  readonly succeededIndexes?: string
  readonly succeededCount?: number
}
