/** Validation of the volumes of Pods (k8s.io/kubernetes/pkg/apis/core/validation: ValidateVolumes). */
import type { FieldError } from '../../../../api/field-error.ts'
import { duplicate, forbidden, invalid, notFoundField, required } from '../../../../api/field-error.ts'
import type { JsonObject } from '../../../../api/json.ts'
import { isObject } from '../../../../api/json.ts'
import { longName, shortName } from '../../../../api/name-syntax.ts'
import { listAt, textAt } from '../../../apimachinery/unstructured.ts'
import { objects } from '../field-checks.ts'
import { containersOf } from './pod-facts.ts'
import { volumeSources } from './volume-sources.ts'

/**
 * Returns the volumes that containers may mount, keyed by the names of the volumes. Also returns the errors of all volumes.
 *
 * @param podName the name of the Pod; undefined for a Pod template.
 */
export function validateVolumes(
  spec: JsonObject,
  path: string,
  podName: string | undefined,
): { readonly volumes: ReadonlyMap<string, JsonObject>; readonly errors: readonly FieldError[] } {
  const list = objects(listAt(spec, 'volumes'))
  const created = list.filter(([volume]) => isObject(volume.ephemeral)).map(([volume]) => claimNameOf(volume, podName))
  const volumes = new Map<string, JsonObject>()
  const errors = list.flatMap(([volume, index]) => {
    const here = `${path}[${index}]`
    const name = textAt(volume, 'name')
    const found = [
      ...validateSource(volume, here, podName),
      ...(name === '' ? [required(`${here}.name`)] : shortName(name).map((detail) => invalid(`${here}.name`, name, detail))),
      ...(volumes.has(name) ? [duplicate(`${here}.name`, name)] : []),
    ]
    if (found.length === 0) volumes.set(name, volume)
    const claim = textAt(volume, 'persistentVolumeClaim', 'claimName')
    return claim !== '' && created.includes(claim)
      ? [
          ...found,
          invalid(`${here}.persistentVolumeClaim.claimName`, claim, 'must not reference a PVC that gets created for an ephemeral volume'),
        ]
      : found
  })
  return { volumes, errors }
}

/** Returns the name of the claim of an ephemeral volume; undefined when the Pod has no name yet. */
function claimNameOf(volume: JsonObject, podName: string | undefined): string | undefined {
  return podName === undefined || podName === '' ? undefined : `${podName}-${textAt(volume, 'name')}`
}

function validateSource(volume: JsonObject, path: string, podName: string | undefined): FieldError[] {
  const [first, ...others] = volumeSources.filter(({ field }) => isObject(volume[field]))
  if (first === undefined) return [required(path, 'must specify a volume type')]
  const { field, pathName = field } = first
  return [
    ...first.validate(volume[field] as JsonObject, `${path}.${pathName}`, podName !== undefined),
    ...(field === 'ephemeral' ? validateClaimName(volume, path, podName) : []),
    ...others.map((other) => forbidden(`${path}.${other.extraName ?? other.field}`, 'may not specify more than 1 volume type')),
  ]
}

function validateClaimName(volume: JsonObject, path: string, podName: string | undefined): FieldError[] {
  const name = textAt(volume, 'name')
  const claim = claimNameOf(volume, podName)
  if (claim === undefined || name === '') return []
  return longName(claim).map((detail) => invalid(`${path}.name`, name, `PVC name ${JSON.stringify(claim)}: ${detail}`))
}

/** Validates that each `fileKeyRef` of a variable names a volume of the type `emptyDir` (validateFileKeyRefVolumes). */
export function validateFileVolumes(spec: JsonObject, path: string): FieldError[] {
  return containersOf(spec, path).flatMap(([container, here]) =>
    objects(listAt(container, 'env')).flatMap(([{ valueFrom }, index]) => {
      if (!isObject(valueFrom) || !isObject(valueFrom.fileKeyRef)) return []
      const name = textAt(valueFrom, 'fileKeyRef', 'volumeName')
      const place = `${here}.env[${index}].valueFrom.fileKeyRef.volumeName`
      const volume = listAt(spec, 'volumes').findLast((one) => textAt(one, 'name') === name)
      if (!isObject(volume)) return [notFoundField(place, name)]
      return isObject(volume.emptyDir) ? [] : [invalid(place, name, 'referenced volume must be of type emptyDir')]
    }),
  )
}

/** Validates that a Pod with projected token volumes has a ServiceAccount. kube-apiserver does not apply this rule to Pod templates. */
export function validateTokenVolumes(spec: JsonObject, path: string): FieldError[] {
  if (textAt(spec, 'serviceAccountName') !== '') return []
  return objects(listAt(spec, 'volumes')).flatMap(([volume, index]) =>
    objects(listAt(volume, 'projected', 'sources')).flatMap(([source, place]) => {
      const here = `${path}.volumes[${index}].projected.sources[${place}].serviceAccountToken`
      return isObject(source.serviceAccountToken) ? [forbidden(here, 'must not be specified when serviceAccountName is not set')] : []
    }),
  )
}
