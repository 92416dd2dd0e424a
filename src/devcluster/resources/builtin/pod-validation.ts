/** Validation of the spec of Pods and Pod templates (k8s.io/kubernetes/pkg/apis/core/validation). */
import type { FieldError } from '../../../api/field-error.ts'
import { duplicate, forbidden, invalid, notSupported, required } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject, jsonEqual } from '../../../api/json.ts'
import { dns1123Label, dns1123Subdomain, shortName } from '../../../api/name-syntax.ts'
import { validateLabels } from '../../../api/object-meta.ts'
import { fieldNames, kindType } from '../../types/go-types.ts'
import { listAt, numberAt, textAt } from '../../apimachinery/unstructured.ts'
import { equalExcept } from '../defaulting.ts'
import { validateEphemeralContainers } from './ephemeral-containers.ts'
import { objects, validateContainer, validateEnum } from './container-validation.ts'

const restartPolicies = ['Always', 'OnFailure', 'Never']
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']
const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']
const maxInt32 = 2 ** 31 - 1

export function validatePodSpec(spec: JsonValue | undefined, path: string): FieldError[] {
  if (!isObject(spec)) return [required(`${path}.containers`)]
  const volumes = new Set(objects(listAt(spec, 'volumes')).map(([volume]) => textAt(volume, 'name')))
  const names = new Set<string>()
  const containers = (field: string): FieldError[] =>
    objects(listAt(spec, field)).flatMap(([container, index]) => validateContainer(container, `${path}.${field}[${index}]`, volumes, names))
  return [
    ...validateVolumes(listAt(spec, 'volumes'), `${path}.volumes`),
    ...(listAt(spec, 'containers').length === 0 ? [required(`${path}.containers`)] : containers('containers')),
    ...containers('initContainers'),
    ...validateEphemeralContainers(spec, `${path}.ephemeralContainers`, volumes),
    ...validateEnum(spec, 'restartPolicy', path, restartPolicies),
    ...validateEnum(spec, 'dnsPolicy', path, dnsPolicies),
    ...validateLabels(spec.nodeSelector, `${path}.nodeSelector`),
    ...named(spec, 'serviceAccountName', path, dns1123Subdomain),
    ...named(spec, 'nodeName', path, dns1123Subdomain),
    ...named(spec, 'hostname', path, shortName),
    ...named(spec, 'subdomain', path, shortName),
    ...validateTolerations(listAt(spec, 'tolerations'), `${path}.tolerations`),
    ...validateDeadline(spec, path),
    ...(spec.hostNetwork === true
      ? ['containers', 'initContainers'].flatMap((field) => validateHostPorts(listAt(spec, field), `${path}.${field}`))
      : []),
  ]
}

/** Validates that each host port equals its container port, as `hostNetwork: true` requires. */
function validateHostPorts(containers: readonly JsonValue[], path: string): FieldError[] {
  return objects(containers).flatMap(([container, index]) =>
    objects(listAt(container, 'ports')).flatMap(([{ containerPort, hostPort }, place]) =>
      hostPort === containerPort
        ? []
        : [invalid(`${path}[${index}].ports[${place}].hostPort`, hostPort ?? 0, 'must match `containerPort` when `hostNetwork` is true')],
    ),
  )
}

export function validatePodTemplateSpec(spec: JsonValue | undefined, path: string): FieldError[] {
  const errors = validatePodSpec(spec, path)
  return isObject(spec) && listAt(spec, 'ephemeralContainers').length > 0
    ? [...errors, forbidden(`${path}.ephemeralContainers`, 'ephemeral containers not allowed in pod template')]
    : errors
}

/** Validates that a Pod with projected token volumes has a ServiceAccount. For Pod templates, kube-apiserver does not validate this. */
export function validateTokenVolumes(spec: JsonObject, path: string): FieldError[] {
  if (textAt(spec, 'serviceAccountName') !== '') return []
  return objects(listAt(spec, 'volumes')).flatMap(([volume, index]) =>
    objects(listAt(volume, 'projected', 'sources')).flatMap(([source, place]) =>
      isObject(source.serviceAccountToken)
        ? [
            forbidden(
              `${path}.volumes[${index}].projected.sources[${place}].serviceAccountToken`,
              'must not be specified when serviceAccountName is not set',
            ),
          ]
        : [],
    ),
  )
}

function named(spec: JsonObject, field: string, path: string, syntax: (value: string) => string[]): FieldError[] {
  const value = textAt(spec, field)
  return value === '' ? [] : syntax(value).map((detail) => invalid(`${path}.${field}`, value, detail))
}

function validateDeadline(spec: JsonObject, path: string): FieldError[] {
  const { activeDeadlineSeconds: deadline } = spec
  return typeof deadline === 'number' && (deadline < 1 || deadline > maxInt32)
    ? [invalid(`${path}.activeDeadlineSeconds`, deadline, `must be between 1 and ${maxInt32}, inclusive`)]
    : []
}

const pod = kindType({ group: '', version: 'v1', kind: 'Pod' })
const volumeSources = fieldNames(pod, 'spec', 'volumes').filter((field) => field !== 'name')

/** The volume sources, in the order in which kube-apiserver checks a volume with more than one source. */
const volumeSourceOrder = [
  ...new Set(['emptyDir', 'hostPath', 'secret', 'persistentVolumeClaim', 'downwardAPI', 'configMap', ...volumeSources]),
]

/** The field that a volume source requires, keyed by the volume source. */
const requiredVolumeFields: Readonly<Record<string, string>> = {
  secret: 'secretName',
  configMap: 'name',
  hostPath: 'path',
  persistentVolumeClaim: 'claimName',
}

function validateVolumes(volumes: readonly JsonValue[], path: string): FieldError[] {
  const names = new Set<string>()
  return objects(volumes).flatMap(([volume, index]) => {
    const here = `${path}[${index}]`
    const name = textAt(volume, 'name')
    const errors: FieldError[] = []
    if (name === '') errors.push(required(`${here}.name`))
    else {
      errors.push(...dns1123Label(name).map((detail) => invalid(`${here}.name`, name, detail)))
      if (names.has(name)) errors.push(duplicate(`${here}.name`, name))
      names.add(name)
    }
    const [source, ...others] = volumeSourceOrder.filter((candidate) => isObject(volume[candidate]))
    if (source === undefined) errors.push(required(here, 'must specify a volume type'))
    for (const other of others) errors.push(forbidden(`${here}.${other}`, 'may not specify more than 1 volume type'))
    const field = source === undefined ? undefined : requiredVolumeFields[source]
    if (field !== undefined && textAt(volume, source!, field) === '') errors.push(required(`${here}.${source!}.${field}`))
    return errors
  })
}

function validateTolerations(tolerations: readonly JsonValue[], path: string): FieldError[] {
  return objects(tolerations).flatMap(([toleration, index]) => {
    const here = `${path}[${index}]`
    const [operator, effect, value] = [textAt(toleration, 'operator'), textAt(toleration, 'effect'), textAt(toleration, 'value')]
    const errors: FieldError[] = []
    if (textAt(toleration, 'key') === '' && operator !== 'Exists') {
      errors.push(
        invalid(`${here}.operator`, operator, 'operator must be Exists when `key` is empty, which means "match all values and all keys"'),
      )
    }
    if (operator === 'Exists' && value !== '')
      errors.push(invalid(`${here}.operator`, value, "value must be empty when `operator` is 'Exists'"))
    if (!['', 'Exists', 'Equal'].includes(operator)) errors.push(notSupported(`${here}.operator`, operator, ['Equal', 'Exists']))
    if (effect !== '' && !taintEffects.includes(effect)) errors.push(notSupported(`${here}.effect`, effect, taintEffects))
    if (toleration.tolerationSeconds !== undefined && toleration.tolerationSeconds !== null && effect !== 'NoExecute') {
      errors.push(invalid(`${here}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
    }
    return errors
  })
}

const changeable =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,' +
  '`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'

/** Validates an update of a Pod. Most fields are immutable. */
export function validatePodUpdate(spec: JsonObject, old: JsonObject): FieldError[] {
  for (const field of ['containers', 'initContainers']) {
    if (listAt(spec, field).length !== listAt(old, field).length)
      return [forbidden(`spec.${field}`, 'pod updates may not add or remove containers')]
  }
  const errors = [...validateDeadlineUpdate(spec, old), ...validateTolerationsUpdate(spec, old), ...validateGatesUpdate(spec, old)]
  const hasEqualContainers = (field: string): boolean =>
    objects(listAt(spec, field)).every(([container, index]) => equalExcept(container, listAt(old, field)[index] as JsonObject, 'image'))
  const free = ['containers', 'initContainers', 'activeDeadlineSeconds', 'tolerations', 'schedulingGates']
  const grace =
    numberAt(old, 'terminationGracePeriodSeconds') < 0 && spec.terminationGracePeriodSeconds === 1 ? ['terminationGracePeriodSeconds'] : []
  if (!hasEqualContainers('containers') || !hasEqualContainers('initContainers') || !equalExcept(spec, old, ...free, ...grace))
    errors.push(forbidden('spec', changeable))
  return errors
}

function validateDeadlineUpdate(spec: JsonObject, old: JsonObject): FieldError[] {
  const [now, before] = [spec.activeDeadlineSeconds, old.activeDeadlineSeconds]
  if (typeof before !== 'number' || now === before) return []
  const path = 'spec.activeDeadlineSeconds'
  if (typeof now !== 'number') return [invalid(path, now ?? null, 'must not update from a positive integer to nil value')]
  return now > before ? [invalid(path, now, 'must be less than or equal to previous value')] : []
}

function validateTolerationsUpdate(spec: JsonObject, old: JsonObject): FieldError[] {
  const now = objects(listAt(spec, 'tolerations')).map(([toleration]) => toleration)
  const kept = objects(listAt(old, 'tolerations')).every(([toleration]) =>
    now.some((other) => equalExcept(other, toleration, 'tolerationSeconds')),
  )
  return kept ? [] : [forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')]
}

function validateGatesUpdate(spec: JsonObject, old: JsonObject): FieldError[] {
  const before = listAt(old, 'schedulingGates')
  return objects(listAt(spec, 'schedulingGates')).flatMap(([gate, index]) =>
    before.some((other) => jsonEqual(other, gate))
      ? []
      : [
          forbidden(
            `spec.schedulingGates[${index}].name`,
            `only deletion is allowed, but found new scheduling gate '${textAt(gate, 'name')}'`,
          ),
        ],
  )
}
