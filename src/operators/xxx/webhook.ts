/** Applies defaults to an Xxx, and checks the rules that the schema of Xxx cannot express. */
import { batch, forbidden, invalid, jsonEqual } from 'proreus'
import type { AdmissionContext, CacheReader, DeepReadonly, FieldError, Incoming, ReviewContext } from 'proreus'
import { cleanUpName } from './clean-up-job.ts'
import { xxxesByBinary, xxxesByJob } from './indexes.ts'
import { xxx, type Xxx } from './kind.ts'
import type { Output, XxxOptions } from './options.ts'
import { outputProblem } from './work.ts'

export const finalizer = 'job.finalizers.test.inspur.com'

type New = DeepReadonly<Incoming<Xxx>>
type Stored = DeepReadonly<Xxx>

/** Removes white space around the values of the spec. A new Xxx gets the finalizer here, so no Xxx is stored without the finalizer. */
export function defaultXxx(object: New, { operation }: Pick<ReviewContext, 'operation'>): New {
  const { finalizers = [] } = object.metadata
  const isMissing = operation === 'CREATE' && !finalizers.includes(finalizer)
  return {
    ...object,
    metadata: isMissing ? { ...object.metadata, finalizers: [...finalizers, finalizer] } : object.metadata,
    spec: trimmed(object.spec),
  }
}

/**
 * Returns the spec with trimmed strings. If a required field is missing, the field stays missing: the API server validates the spec only
 * after the mutating webhooks.
 */
function trimmed<T extends object>(spec: T): T {
  return Object.fromEntries(
    Object.entries(spec).map(([field, value]: [string, unknown]) => [field, typeof value === 'string' ? value.trim() : value]),
  ) as T
}

/**
 * Returns the validation that needs the cluster. An unchanged spec is not validated, because users must be able to change the metadata even
 * if the spec has become invalid.
 */
export function validatorOf({ output }: XxxOptions) {
  return async (object: Stored, old: Stored | undefined, context: AdmissionContext): Promise<readonly FieldError[]> => {
    if (old !== undefined && jsonEqual(object.spec, old.spec)) return []
    const problem = outputProblem(output, object.metadata.namespace)
    if (problem !== undefined) return [forbidden('metadata.namespace', problem)]
    return [
      ...(await requesterErrors(object, context)),
      ...jobErrors(object, context.cache),
      ...binaryErrors(object, output, context.cache),
    ]
  }
}

/**
 * Checks that the requester may create Jobs. Without this check, a requester who may create only Xxxes could run any command through an
 * Xxx.
 */
async function requesterErrors({ metadata: { namespace } }: Stored, { requesterCan, user }: AdmissionContext): Promise<FieldError[]> {
  if (await requesterCan({ verb: 'create', type: batch.job, namespace })) return []
  const text = `user "${user.username}" cannot create resource "jobs" in API group "batch" in the namespace "${namespace}", which an Xxx needs`
  return [forbidden('spec.jobName', text)]
}

function jobErrors(object: Stored, cache: CacheReader): FieldError[] {
  const { namespace } = object.metadata
  const { jobName } = object.spec
  const found = [jobName, cleanUpName(jobName)].flatMap((name) => cache.list(xxx, { namespace, index: [xxxesByJob, name] }))
  const other = found.find((one) => !isSame(one, object))
  if (other === undefined) return []
  const { jobName: taken } = other.spec
  return [invalid('spec.jobName', jobName, `the Xxx "${other.metadata.name}" has the Jobs ${taken} and ${cleanUpName(taken)}`)]
}

/** Checks that no other Xxx writes a file with the same name to the same folder. */
function binaryErrors(object: Stored, output: Output, cache: CacheReader): FieldError[] {
  const { binaryName } = object.spec
  const found = namespacesOfOutput(object, output).flatMap((namespace) =>
    cache.list(xxx, { namespace, index: [xxxesByBinary, binaryName] }),
  )
  const other = found.find((one) => !isSame(one, object))
  if (other === undefined) return []
  const { namespace, name } = other.metadata
  return [invalid('spec.binaryName', binaryName, `the Xxx "${name}" in the namespace "${namespace}" writes this file`)]
}

/** Returns the namespaces whose Xxxes write to the same folder as `object`. With `emptyDir`, each Pod has a separate folder. */
function namespacesOfOutput({ metadata: { namespace } }: Stored, output: Output): readonly string[] {
  switch (output.kind) {
    case 'emptyDir':
      return []
    case 'claim':
      return [namespace]
    case 'hostPath':
      return output.namespaces
  }
}

function isSame(one: Stored, { metadata: { namespace, name } }: Stored): boolean {
  return one.metadata.namespace === namespace && one.metadata.name === name
}
