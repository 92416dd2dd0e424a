/** Rules for Linux and Windows Pods, and for Pods with their own user namespace (k8s.io/kubernetes/pkg/apis/core/validation). */
import type { FieldError } from '../../../../api/field-error.ts'
import { forbidden, invalid, notSupported, required } from '../../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../../api/json.ts'
import { at, sizeAt } from '../../../apimachinery/unstructured.ts'
import { containersOf, osOf } from './pod-facts.ts'

/** The paths of the fields that a Windows Pod cannot have, in the order of kube-apiserver's errors (validateWindows). */
const podFieldsOfLinux: readonly (readonly string[])[] = [
  ['securityContext', 'appArmorProfile'],
  ['securityContext', 'seLinuxOptions'],
  ['hostUsers'],
  ['hostPID'],
  ['hostIPC'],
  ['securityContext', 'seccompProfile'],
  ['securityContext', 'fsGroup'],
  ['securityContext', 'fsGroupChangePolicy'],
  ['securityContext', 'sysctls'],
  ['shareProcessNamespace'],
  ['securityContext', 'runAsUser'],
  ['securityContext', 'runAsGroup'],
  ['securityContext', 'supplementalGroups'],
  ['securityContext', 'supplementalGroupsPolicy'],
  ['securityContext', 'seLinuxChangePolicy'],
]
const containerFieldsOfLinux = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
]
/** Fields whose Go type does not distinguish false from a missing value. */
const plainFlags = new Set(['hostPID', 'hostIPC'])

function isSet(value: JsonValue | undefined, field: string): boolean {
  if (value === undefined || value === null) return false
  return !(value === false && plainFlags.has(field))
}

export function validateOs(spec: JsonObject, path: string): FieldError[] {
  const os = osOf(spec)
  if (os === undefined) return []
  if (os === '') return [required(`${path}.os.name`)]
  if (os === 'linux') return validateLinux(spec, path)
  return os === 'windows' ? validateWindows(spec, path) : [notSupported(`${path}.os`, os, ['linux', 'windows'])]
}

function validateLinux(spec: JsonObject, path: string): FieldError[] {
  return [[spec, path] as const, ...containersOf(spec, path)].flatMap(([owner, here]) =>
    at(owner, 'securityContext', 'windowsOptions') === undefined
      ? []
      : [forbidden(`${here}.securityContext.windowsOptions`, 'windows options cannot be set for a linux pod')],
  )
}

function validateWindows(spec: JsonObject, path: string): FieldError[] {
  const unset = 'cannot be set for a windows pod'
  return [
    ...podFieldsOfLinux
      .filter((field) => isSet(at(spec, ...field), field.at(-1)!))
      .map((field) => forbidden(`${path}.${field.join('.')}`, unset)),
    ...containersOf(spec, path).flatMap(([container, here]) =>
      containerFieldsOfLinux
        .filter((field) => isSet(at(container, 'securityContext', field), field))
        .map((field) => forbidden(`${here}.securityContext.${field}`, unset)),
    ),
  ]
}

const hostProcess = ['securityContext', 'windowsOptions', 'hostProcess']

/** Validates the HostProcess containers of a Windows Pod (validateWindowsHostProcessPod). */
export function validateHostProcesses(spec: JsonObject, path: string): FieldError[] {
  const ofPod = at(spec, ...hostProcess)
  const containers = containersOf(spec, path)
  const given = containers.map(([container]) => at(container, ...hostProcess))
  if (ofPod !== true && !given.includes(true) && !(ofPod === false && given.includes(false))) return []
  const errors = containers.flatMap(([, here], index) => {
    const value = given[index]
    const detail = `pod hostProcess value must be identical if both are specified, was ${String(ofPod)}`
    return typeof ofPod === 'boolean' && typeof value === 'boolean' && value !== ofPod
      ? [invalid(`${here}.${hostProcess.join('.')}`, value, detail)]
      : []
  })
  const number = given.filter((value) => (value ?? ofPod) === true).length
  if (number === 0) return errors
  if (number !== containers.length) {
    const detail = 'If pod contains any hostProcess containers then all containers must be HostProcess containers'
    errors.push(invalid(path, '', detail))
  }
  if (spec.hostNetwork !== true)
    errors.push(invalid(`${path}.hostNetwork`, false, 'hostNetwork must be true if pod contains any hostProcess containers'))
  return errors
}

/** Validates the spec of a Pod that has its own user namespace (validateHostUsers). */
export function validateUserNamespace(spec: JsonObject, path: string): FieldError[] {
  if (spec.hostUsers !== false) return []
  const refuse = (field: string): FieldError => forbidden(field, 'when `hostUsers` is false')
  return [
    // In kube-apiserver's errors, the names `HostPID` and `HostIPC` begin with a capital letter.
    ...(
      [
        ['hostNetwork', 'hostNetwork'],
        ['hostPID', 'HostPID'],
        ['hostIPC', 'HostIPC'],
      ] as const
    ).flatMap(([field, name]) => (spec[field] === true ? [refuse(`${path}.${name}`)] : [])),
    ...containersOf(spec, path).flatMap(([container, here]) =>
      sizeAt(container, 'volumeDevices') > 0 ? [refuse(`${here}.volumeDevices`)] : [],
    ),
  ]
}
