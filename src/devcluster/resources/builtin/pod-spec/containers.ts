/** Validation of containers and init containers (k8s.io/kubernetes/pkg/apis/core/validation: validateContainers). */
import type { FieldError } from '../../../../api/field-error.ts'
import { duplicate, invalid, notSupported, required, tooMany } from '../../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../../api/json.ts'
import { isObject } from '../../../../api/json.ts'
import { shortName } from '../../../../api/name-syntax.ts'
import { listAt, numberAt, textAt } from '../../../apimachinery/unstructured.ts'
import { objects, portNameErrors, validateEnum, validateOptionalEnum, validatePort } from '../field-checks.ts'
import { refuseLifecycleAndProbes, validateLifecycleAndProbes } from './handlers.ts'
import type { PodFacts } from './pod-facts.ts'
import { validateContainerResources } from './resource-requirements.ts'
import { validateSecurityContext } from './security-contexts.ts'
import { validateVariables, validateVariableSources } from './variables.ts'
import { validateVolumeDevices, validateVolumeMounts } from './volume-mounts.ts'

const pullPolicies = ['Always', 'IfNotPresent', 'Never']
const terminationMessagePolicies = ['File', 'FallbackToLogsOnError']
const protocols = ['SCTP', 'TCP', 'UDP']

export function validateContainers(containers: readonly JsonValue[], path: string, pod: PodFacts): FieldError[] {
  if (containers.length === 0) return [required(path)]
  const [names, hostPorts] = [new Set<string>(), new Set<string>()]
  const errors = objects(containers).flatMap(([container, index]) => {
    const here = `${path}[${index}]`
    return [
      ...validateContainer(container, here, pod),
      ...validateUniqueName(container, here, names),
      ...validateLifecycleAndProbes(container, here, pod.gracePeriodSeconds),
      ...validateRestartRules(container, here),
    ]
  })
  return [...errors, ...objects(containers).flatMap(([container, index]) => validateHostPorts(container, `${path}[${index}]`, hostPorts))]
}

/** Validates the init containers of a Pod spec (validateInitContainers). */
export function validateInitContainers(spec: JsonObject, path: string, pod: PodFacts): FieldError[] {
  const names = new Set(listAt(spec, 'containers').map((container) => textAt(container, 'name')))
  return objects(listAt(spec, 'initContainers')).flatMap(([container, index]) => {
    const here = `${path}[${index}]`
    const isSidecar = container.restartPolicy === 'Always'
    return [
      ...validateContainer(container, here, pod),
      ...validateRestartRules(container, here),
      ...validateUniqueName(container, here, names),
      // For a host port of any init container, the path in kube-apiserver's error has the index of the first init container.
      ...validateHostPorts(container, `${path}[0]`, new Set()),
      ...(isSidecar ? validateLifecycleAndProbes(container, here, pod.gracePeriodSeconds) : refuseLifecycleAndProbes(container, here)),
      ...(isSidecar ? [] : refuseRestartOnResize(container, here)),
    ]
  })
}

/** Validates the fields that all kinds of containers have (validateContainerCommon). */
export function validateContainer(container: JsonObject, path: string, pod: PodFacts): FieldError[] {
  const name = textAt(container, 'name')
  return [
    ...(name === '' ? [required(`${path}.name`)] : shortName(name).map((detail) => invalid(`${path}.name`, name, detail))),
    ...(textAt(container, 'image') === '' ? [required(`${path}.image`)] : []),
    ...validateEnum(container, 'terminationMessagePolicy', path, terminationMessagePolicies),
    ...validatePorts(listAt(container, 'ports'), `${path}.ports`),
    ...validateVariables(listAt(container, 'env'), `${path}.env`),
    ...validateVariableSources(listAt(container, 'envFrom'), `${path}.envFrom`),
    ...validateVolumeMounts(container, `${path}.volumeMounts`, pod),
    ...validateVolumeDevices(container, `${path}.volumeDevices`, pod),
    ...validateEnum(container, 'imagePullPolicy', path, pullPolicies),
    ...validateContainerResources(container.resources, `${path}.resources`, pod.claims),
    ...validateResizePolicy(listAt(container, 'resizePolicy'), `${path}.resizePolicy`, pod.restartPolicy),
    ...validateSecurityContext(container.securityContext, `${path}.securityContext`, pod.usesHostUsers),
  ]
}

/** Validates the image of a container of a Pod (validateContainerOnlyForPod). */
export function validateImage(container: JsonObject, path: string): FieldError[] {
  const image = textAt(container, 'image')
  return image === image.trim() ? [] : [invalid(`${path}.image`, image, 'must not have leading or trailing whitespace')]
}

function validateUniqueName(container: JsonObject, path: string, taken: Set<string>): FieldError[] {
  const name = textAt(container, 'name')
  if (taken.has(name)) return [duplicate(`${path}.name`, name)]
  if (name !== '') taken.add(name)
  return []
}

function validatePorts(ports: readonly JsonValue[], path: string): FieldError[] {
  const names = new Set<string>()
  return objects(ports).flatMap(([port, index]) => {
    const here = `${path}[${index}]`
    const errors: FieldError[] = []
    const name = textAt(port, 'name')
    if (name !== '') {
      errors.push(...portNameErrors(name).map((detail) => invalid(`${here}.name`, name, detail)))
      if (names.has(name)) errors.push(duplicate(`${here}.name`, name))
      else if (errors.length === 0) names.add(name)
    }
    if (port.containerPort === undefined || port.containerPort === 0) errors.push(required(`${here}.containerPort`))
    else errors.push(...validatePort(port.containerPort, `${here}.containerPort`))
    if (port.hostPort !== undefined && port.hostPort !== 0) errors.push(...validatePort(port.hostPort, `${here}.hostPort`))
    return [...errors, ...validateEnum(port, 'protocol', here, protocols)]
  })
}

/** Validates that no host port of the container is in `taken`, and adds the host ports to `taken` (AccumulateUniqueHostPorts). */
function validateHostPorts(container: JsonObject, path: string, taken: Set<string>): FieldError[] {
  return objects(listAt(container, 'ports')).flatMap(([port, index]) => {
    const number = numberAt(port, 'hostPort')
    const place = `${textAt(port, 'protocol')}/${textAt(port, 'hostIP')}/${number}`
    if (number === 0) return []
    if (taken.has(place)) return [duplicate(`${path}.ports[${index}].hostPort`, place)]
    taken.add(place)
    return []
  })
}

const resizableResources = ['cpu', 'memory']
const resizePolicies = ['NotRequired', 'RestartContainer']

/**
 * Validates the resize policies of a container (validateResizePolicy). Like kube-apiserver, this function reports most errors for the list
 * as a whole. Only the error for a duplicate contains the index of the item.
 */
function validateResizePolicy(policies: readonly JsonValue[], path: string, podPolicy: string): FieldError[] {
  const taken = new Set<string>()
  return objects(policies).flatMap(([item, index]) => {
    const [resource, policy] = [textAt(item, 'resourceName'), textAt(item, 'restartPolicy')]
    const errors = taken.has(resource) ? [duplicate(`${path}[${index}]`, resource)] : []
    taken.add(resource)
    for (const [value, known] of [
      [resource, resizableResources],
      [policy, resizePolicies],
    ] as const) {
      if (value === '') errors.push(required(path))
      else if (!known.includes(value)) errors.push(notSupported(path, value, known))
    }
    return podPolicy === 'Never' && policy !== 'NotRequired'
      ? [...errors, invalid(path, policy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'")]
      : errors
  })
}

function refuseRestartOnResize(container: JsonObject, path: string): FieldError[] {
  return listAt(container, 'resizePolicy').flatMap((item, index) =>
    textAt(item, 'restartPolicy') === 'RestartContainer'
      ? [
          invalid(
            `${path}.resizePolicy[${index}].restartPolicy`,
            'RestartContainer',
            "must not be set to 'RestartContainer' for non-sidecar initContainers",
          ),
        ]
      : [],
  )
}

const [maxRules, maxExitCodes] = [20, 255]
const ruleActions = ['Restart', 'RestartAllContainers']
const exitCodeOperators = ['In', 'NotIn']

/** Validates `restartPolicy` and `restartPolicyRules` of a container (validateContainerRestartPolicy). */
function validateRestartRules(container: JsonObject, path: string): FieldError[] {
  const rules = listAt(container, 'restartPolicyRules')
  const isMissing = typeof container.restartPolicy !== 'string'
  if (isMissing && rules.length === 0) return []
  return [
    ...(isMissing ? [required(`${path}.restartPolicy`, 'must specify restartPolicy when restart rules are used')] : []),
    ...validateOptionalEnum(container, 'restartPolicy', path, ['Always', 'Never', 'OnFailure']),
    ...(rules.length > maxRules ? [tooMany(`${path}.restartPolicyRules`, rules.length, maxRules)] : []),
    ...objects(rules).flatMap(([rule, index]) => validateRestartRule(rule, `${path}.restartPolicyRules[${index}]`)),
  ]
}

function validateRestartRule(rule: JsonObject, path: string): FieldError[] {
  const [action, operator] = [textAt(rule, 'action'), textAt(rule, 'exitCodes', 'operator')]
  const errors = ruleActions.includes(action) ? [] : [notSupported(`${path}.action`, action, ruleActions)]
  if (!isObject(rule.exitCodes)) return [...errors, required(`${path}.exitCodes`, 'must be specified')]
  const codes = listAt(rule, 'exitCodes', 'values').length
  if (!exitCodeOperators.includes(operator)) errors.push(notSupported(`${path}.exitCodes.operator`, operator, exitCodeOperators))
  return codes > maxExitCodes ? [...errors, tooMany(`${path}.exitCodes.values`, codes, maxExitCodes)] : errors
}
