/** The public API of Proreus. */
export { defineKind, Conditions } from './api/kind.ts'
export type { Infer, InferInput, Kind, KindDefinition, PrinterColumn, SpokeOf, VersionDefinition } from './api/kind.ts'
export { Type } from './api/type.ts'
export type { Static, TSchema } from './api/type.ts'
export type { BuiltinTypeName, BuiltinTypes } from './api/builtin-types.ts'
export { resourceType, apiVersionOf, groupResourceOf } from './api/group-version-kind.ts'
export type { GroupVersionKind, ObjectOf, ResourceType } from './api/group-version-kind.ts'
export { formatKey, keyOf } from './api/object.ts'
export type { KubernetesObject, ObjectInput, ObjectKey, ObjectList, ObjectMeta, OwnerReference } from './api/object.ts'
export { controllerOf, controllerReference, isControlledBy } from './api/owner-reference.ts'
export { findCondition, mergeConditions } from './api/conditions.ts'
export type { Condition, ConditionInput } from './api/conditions.ts'
export { duplicate, forbidden, invalid, notSupported, required, tooLong, tooMany, typeInvalid } from './api/field-error.ts'
export type { FieldError, FieldErrorReason } from './api/field-error.ts'
export { failure } from './api/status.ts'
export type { Status, StatusCause, StatusDetails } from './api/status.ts'
export { ProreusError } from './api/errors.ts'
export type { ErrorCode } from './api/errors.ts'
export { systemClock } from './api/clock.ts'
export type { Clock, Timer } from './api/clock.ts'
export { stringifyJson } from './api/json.ts'
export type { DeepReadonly, JsonObject, JsonValue } from './api/json.ts'
export type { LabelSelector } from './api/label-selector.ts'
export type { PolicyRule } from './api/policy-rule.ts'
export {
  configMap,
  customResourceDefinition,
  deployment,
  event,
  lease,
  mutatingWebhookConfiguration,
  namespace,
  node,
  pod,
  secret,
  service,
  serviceAccount,
  subjectAccessReview,
  validatingWebhookConfiguration,
} from './api/builtin.ts'
export type {
  ConfigMap,
  Deployment,
  Event,
  Jsonify,
  Lease,
  Namespace,
  Node,
  Pod,
  PodSpec,
  Secret,
  Service,
  ServiceAccount,
} from './api/builtin.ts'
export { defineCacheIndex } from './cache/cache-index.ts'
export type { CacheIndex } from './cache/cache-index.ts'
export type { CacheListOptions } from './cache/cache.ts'
export { ApiError, isAlreadyExists, isConflict, isForbidden, isInvalid, isNotFound } from './client/api-error.ts'
export { createClient } from './client/client.ts'
export type { Client, ListOptions, WatchEvent, WriteOptions } from './client/client.ts'
export type { Connection } from './client/connection.ts'
export { loadConnection } from './client/kubeconfig.ts'
export { retryOnConflict } from './client/retry.ts'
export { defineController } from './controller/builder.ts'
export type { ControllerDefinition, ControllerSettings, OwnedType, WatchedType } from './controller/builder.ts'
export type { MapContext, MapFunction } from './controller/enqueue.ts'
export * from './controller/predicates.ts'
export { exponentialBackoff } from './controller/rate-limiter.ts'
export type { BackoffOptions, RateLimiter } from './controller/rate-limiter.ts'
export { TerminalError } from './controller/reconciler.ts'
export type { CacheReader, ReconcileContext, Result } from './controller/reconciler.ts'
export { defineConversion } from './conversion/definition.ts'
export type {
  ConversionContext,
  ConversionDefinition,
  ConversionSettings,
  Converted,
  VersionConverter,
  VersionConverters,
} from './conversion/definition.ts'
export { defineWebhook } from './webhook/definition.ts'
export type { Incoming, Verdict, WebhookDefinition, WebhookHandlers } from './webhook/definition.ts'
export type { AdmissionContext, GroupVersionResource, Operation, OperationOptions, ReviewContext, UserInfo } from './webhook/context.ts'
export type { WebhookFilters, WebhookSettings } from './webhook/settings.ts'
export type { MatchCondition } from './webhook/match-condition.ts'
export { accessReviewRule } from './webhook/access.ts'
export type { AccessAttributes } from './webhook/access.ts'
export { anyResource } from './webhook/subresource.ts'
export type {
  Binding,
  Eviction,
  PodAttachOptions,
  PodExecOptions,
  PodPortForwardOptions,
  ProxyOptions,
  ReviewedObject,
  Scale,
  TokenRequest,
} from './webhook/subresource.ts'
export { defineOperator } from './manager/operator.ts'
export type { Operator, OperatorDefinition } from './manager/operator.ts'
export { run } from './manager/run.ts'
export type { CertificateOptions, Endpoints, RunOptions, WebhookOptions } from './manager/run.ts'
export { installOnServing } from './manifests/install.ts'
export type { InstallOptions } from './manifests/install.ts'
export { onTermination } from './manager/termination.ts'
export type { Termination } from './manager/termination.ts'
export { createLogger } from './telemetry/logger.ts'
export type { Logger } from './telemetry/logger.ts'
export { Metrics } from './telemetry/metrics.ts'
