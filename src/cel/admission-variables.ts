/**
 * The CEL variables that match conditions can use, with the types that kube-apiserver declares for them
 * (`k8s.io/apiserver/pkg/admission/plugin/cel`: `BuildRequestType`, `BuildNamespaceType`).
 */
import type { DeclaredType } from './types/declared-type.ts'
import type { Type } from './types/types.ts'
import { boolType, dynType, intType, listType, mapType, opaqueType, stringType, timestampType } from './types/types.ts'

/** Declares an object type with fields, such as the type of `request`. */
function struct(name: string, fields: Readonly<Record<string, Type>>): Type {
  const declared = new Map(Object.entries(fields).map(([field, type]): [string, DeclaredType] => [field, declare(type)]))
  return { kind: 'struct', name, parameters: [], declared: { type: dynType, fields: declared, maxElements: 0, minSize: 2 } }
}

function declare(type: Type): DeclaredType {
  return { type, maxElements: 0, minSize: 2 }
}

/** Declares a type that has member functions, but no fields. */
function receiver(name: string): Type {
  return { ...opaqueType(`kubernetes.authorization.${name}`), kind: 'struct' }
}

const strings = listType(stringType)
const texts = mapType(stringType, stringType)
const kind = struct('kubernetes.GroupVersionKind', { group: stringType, version: stringType, kind: stringType })
const resource = struct('kubernetes.GroupVersionResource', { group: stringType, version: stringType, resource: stringType })

const request = struct('kubernetes.AdmissionRequest', {
  kind,
  resource,
  subResource: stringType,
  requestKind: kind,
  requestResource: resource,
  requestSubResource: stringType,
  name: stringType,
  namespace: stringType,
  operation: stringType,
  userInfo: struct('kubernetes.UserInfo', {
    username: stringType,
    uid: stringType,
    groups: strings,
    extra: mapType(stringType, strings),
  }),
  dryRun: boolType,
  options: dynType,
})

const namespaceObject = struct('kubernetes.Namespace', {
  metadata: struct('kubernetes.NamespaceMetadata', {
    name: stringType,
    generateName: stringType,
    namespace: stringType,
    labels: texts,
    annotations: texts,
    // kube-apiserver declares the field `uid` of the user as `UID`, which seems to be a mistake.
    UID: stringType,
    creationTimestamp: timestampType,
    deletionGracePeriodSeconds: intType,
    deletionTimestamp: timestampType,
    generation: intType,
    resourceVersion: stringType,
    finalizers: strings,
  }),
  spec: struct('kubernetes.NamespaceSpec', { finalizers: strings }),
  status: struct('kubernetes.NamespaceStatus', {
    conditions: listType(
      struct('kubernetes.NamespaceCondition', {
        status: stringType,
        type: stringType,
        lastTransitionTime: timestampType,
        message: stringType,
        reason: stringType,
      }),
    ),
    phase: stringType,
  }),
})

/**
 * The variables and their types. `CompiledExpression.evaluate` expects the values in this order. For webhooks, `namespaceObject` is always
 * null.
 */
export const admissionVariables = {
  object: dynType,
  oldObject: dynType,
  namespaceObject,
  request,
  authorizer: receiver('Authorizer'),
  'authorizer.requestResource': receiver('ResourceCheck'),
} as const satisfies Readonly<Record<string, Type>>
