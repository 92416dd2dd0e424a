/** Validation of the spec of Pods and Pod templates (k8s.io/kubernetes/pkg/apis/core/validation: ValidatePodSpec). */
import type { FieldError } from '../../../api/field-error.ts'
import { duplicate, forbidden, invalid, required } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { longName, shortName } from '../../../api/name-syntax.ts'
import { validateAnnotations, validateLabels } from '../../../api/object-meta.ts'
import { at, listAt, sizeAt, textAt } from '../../apimachinery/unstructured.ts'
import { invalidStruct, objects, validateEnum } from './field-checks.ts'
import { validateAffinity } from './pod-spec/affinity.ts'
import { validatePodAnnotations } from './pod-spec/annotations.ts'
import { validateContainers, validateImage, validateInitContainers } from './pod-spec/containers.ts'
import { validateEphemeralContainers } from './pod-spec/ephemeral-containers.ts'
import { validateDnsConfig, validateHostAliases, validateHostnameOverride, validateHostNetworkPorts } from './pod-spec/networking.ts'
import { validateHostProcesses, validateOs, validateUserNamespace } from './pod-spec/operating-systems.ts'
import { podFacts } from './pod-spec/pod-facts.ts'
import { validateContainerResources, validatePodResources } from './pod-spec/resource-requirements.ts'
import { validateReadinessGates, validateSchedulingGates, validateSpreadConstraints, validateTolerations } from './pod-spec/scheduling.ts'
import { validatePodSecurityContext } from './pod-spec/security-contexts.ts'
import { validateFileVolumes, validateTokenVolumes, validateVolumes } from './pod-spec/volumes.ts'

const restartPolicies = ['Always', 'OnFailure', 'Never']
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']
const maxInt32 = 2 ** 31 - 1

/**
 * Validates the spec of a Pod or Pod template. The spec must already contain the defaults.
 *
 * @param podName the name of the Pod; undefined for a Pod template.
 */
export function validatePodSpec(spec: JsonValue | undefined, path: string, podName: string | undefined): FieldError[] {
  if (!isObject(spec)) return [required(`${path}.containers`)]
  const { volumes, errors } = validateVolumes(spec, `${path}.volumes`, podName)
  const facts = podFacts(spec, volumes, podName)
  return [
    ...errors,
    ...validateResourceClaims(listAt(spec, 'resourceClaims'), `${path}.resourceClaims`),
    ...validateContainers(listAt(spec, 'containers'), `${path}.containers`, facts),
    ...validateInitContainers(spec, `${path}.initContainers`, facts),
    ...validateEphemeralContainers(spec, `${path}.ephemeralContainers`, facts),
    ...validatePodResources(spec, path, facts.claims),
    ...validateHostNetworkPorts(spec, path, podName !== undefined),
    ...validateEnum(spec, 'restartPolicy', path, restartPolicies),
    ...validateEnum(spec, 'dnsPolicy', path, dnsPolicies),
    ...validateLabels(spec.nodeSelector, `${path}.nodeSelector`),
    ...validatePodSecurityContext(spec, `${path}.securityContext`),
    ...validateAffinity(spec.affinity, `${path}.affinity`),
    ...validateDnsConfig(spec, `${path}.dnsConfig`),
    ...validateReadinessGates(listAt(spec, 'readinessGates'), `${path}.readinessGates`),
    ...validateSchedulingGates(listAt(spec, 'schedulingGates'), `${path}.schedulingGates`),
    ...validateSpreadConstraints(listAt(spec, 'topologySpreadConstraints'), `${path}.topologySpreadConstraints`),
    ...validateHostProcesses(spec, path),
    ...validateUserNamespace(spec, path),
    ...validateHostnameOverride(spec, `${path}.hostnameOverride`),
    ...named(spec, 'serviceAccountName', path, longName),
    ...named(spec, 'nodeName', path, longName),
    ...validateDeadline(spec, path),
    ...named(spec, 'hostname', path, shortName),
    ...named(spec, 'subdomain', path, shortName),
    ...validateTolerations(listAt(spec, 'tolerations'), `${path}.tolerations`),
    ...validateHostAliases(listAt(spec, 'hostAliases'), `${path}.hostAliases`),
    ...named(spec, 'priorityClassName', path, longName),
    ...(typeof spec.runtimeClassName === 'string'
      ? longName(spec.runtimeClassName).map((detail) => invalid(`${path}.runtimeClassName`, spec.runtimeClassName, detail))
      : []),
    ...(typeof spec.preemptionPolicy === 'string' ? validateEnum(spec, 'preemptionPolicy', path, ['PreemptLowerPriority', 'Never']) : []),
    ...(isObject(spec.overhead) ? validateContainerResources({ limits: spec.overhead }, `${path}.overhead`, noClaims) : []),
    ...validateOs(spec, path),
    ...validateFileVolumes(spec, path),
  ]
}

const noClaims: ReadonlySet<string> = new Set()

/** Validates a Pod, including the rules that do not apply to Pod templates (validatePodMetadataAndSpec). */
export function validatePod(pod: JsonObject): FieldError[] {
  const spec = isObject(pod.spec) ? pod.spec : {}
  return [
    ...validatePodAnnotations(at(pod, 'metadata', 'annotations'), spec, 'metadata.annotations'),
    ...validatePodSpec(pod.spec, 'spec', textAt(pod, 'metadata', 'name')),
    ...validateTokenVolumes(spec, 'spec'),
    ...['containers', 'initContainers'].flatMap((field) =>
      objects(listAt(spec, field)).flatMap(([container, index]) => validateImage(container, `spec.${field}[${index}]`)),
    ),
  ]
}

/**
 * Validates a Pod template (ValidatePodTemplateSpec).
 *
 * @param spec the Pod spec to validate. Default: the spec of the template.
 */
export function validatePodTemplate(template: JsonValue | undefined, path: string, spec = at(template, 'spec')): FieldError[] {
  const annotations = at(template, 'metadata', 'annotations')
  return [
    ...validateLabels(at(template, 'metadata', 'labels'), `${path}.labels`),
    ...validateAnnotations(annotations, `${path}.annotations`),
    ...validatePodAnnotations(annotations, isObject(spec) ? spec : {}, `${path}.annotations`),
    ...validatePodSpec(spec, `${path}.spec`, undefined),
    ...(sizeAt(spec, 'ephemeralContainers') > 0
      ? [forbidden(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template')]
      : []),
  ]
}

const claimFields = ['name', 'resourceClaimName', 'resourceClaimTemplateName']

/** Validates `resourceClaims` (k8s.io/kubernetes/pkg/apis/core/validation: validatePodResourceClaims). */
function validateResourceClaims(claims: readonly JsonValue[], path: string): FieldError[] {
  const taken = new Set<string>()
  return objects(claims).flatMap(([claim, index]) => {
    const here = `${path}[${index}]`
    const name = textAt(claim, 'name')
    const errors: FieldError[] = []
    if (name === '') errors.push(required(`${here}.name`))
    else if (taken.has(name)) errors.push(duplicate(`${here}.name`, name))
    else errors.push(...shortName(name).map((detail) => invalid(`${here}.name`, name, detail)))
    taken.add(name)
    const sources = claimFields.slice(1).filter((field) => typeof claim[field] === 'string')
    const refuse = (detail: string): FieldError => invalidStruct(here, { ...claim, name }, claimFields, detail)
    if (sources.length > 1) errors.push(refuse('at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified'))
    if (sources.length === 0) errors.push(refuse('must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'))
    for (const field of sources)
      errors.push(...longName(textAt(claim, field)).map((detail) => invalid(`${here}.${field}`, claim[field], detail)))
    return errors
  })
}

function named(spec: JsonObject, field: string, path: string, syntax: (value: string) => string[]): FieldError[] {
  const value = textAt(spec, field)
  return value === '' ? [] : syntax(value).map((detail) => invalid(`${path}.${field}`, value, detail))
}

function validateDeadline({ activeDeadlineSeconds: deadline }: JsonObject, path: string): FieldError[] {
  return typeof deadline === 'number' && (deadline < 1 || deadline > maxInt32)
    ? [invalid(`${path}.activeDeadlineSeconds`, deadline, `must be between 1 and ${maxInt32}, inclusive`)]
    : []
}
