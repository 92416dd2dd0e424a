/** The public API of Proreus. */
import './api/require-supported-node.ts'
export { defineKind, Conditions, versionOf } from './api/kind.ts'
export type {
  DefinedKind,
  Infer,
  InferInput,
  Kind,
  KindDefinition,
  KindVersion,
  PrinterColumn,
  SpokeOf,
  VersionDefinition,
  VersionNameOf,
} from './api/kind.ts'
export type { StructuralSchema, ValidationRule } from './api/structural-schema.ts'
export { Type } from './api/type.ts'
export type {
  ArraySchemaOptions,
  BuiltinSchemaOptions,
  Defaulted,
  NumberSchemaOptions,
  ObjectSchemaOptions,
  OptionalMark,
  SchemaAnnotations,
  SchemaOptions,
  Static,
  StaticInput,
  StringSchemaOptions,
  TArray,
  TBoolean,
  TInteger,
  TMap,
  TNullable,
  TNumber,
  TObject,
  TOptional,
  TProperties,
  TSchema,
  TString,
  TUnsafe,
} from './api/type.ts'
export type { BuiltinTypeName, BuiltinTypes } from './api/builtin-types.ts'
export { resourceType, apiVersionOf, groupResourceOf } from './api/group-version-kind.ts'
export type { GroupVersionKind, InputOf, ObjectOf, ResourceType } from './api/group-version-kind.ts'
export { formatKey, keyOf } from './api/object.ts'
export type {
  KeyOf,
  KubernetesObject,
  ManagedFieldsEntry,
  NamespacedKey,
  NamespacedMeta,
  ObjectInput,
  ObjectKey,
  ObjectList,
  ObjectMeta,
  OwnerReference,
} from './api/object.ts'
export { validateAnnotations, validateLabels } from './api/object-meta.ts'
export { controllerOf, controllerReference, isControlledBy, ownerReference } from './api/owner-reference.ts'
export { findCondition, formatTime, mergeConditions } from './api/conditions.ts'
export type { Condition, ConditionInput } from './api/conditions.ts'
export { duplicate, forbidden, invalid, notSupported, required, tooLong, tooMany, typeInvalid } from './api/field-error.ts'
export type { FieldError, FieldErrorReason } from './api/field-error.ts'
export { failure } from './api/status.ts'
export type { Status, StatusCause, StatusDetails } from './api/status.ts'
export { ProreusError } from './api/errors.ts'
export { version } from './api/version.ts'
export type { ErrorCode } from './api/errors.ts'
export { systemClock } from './runtime/clock.ts'
export type { Clock, Timer } from './runtime/clock.ts'
export { sleep } from './runtime/waiting.ts'
export { hasFields } from './api/has-fields.ts'
export { canonicalJson, jsonEqual, stringifyJson } from './api/json.ts'
export { jsonHash } from './api/json-hash.ts'
export { parseJson } from './api/json-reader.ts'
export type { DeepReadonly, JsonObject, JsonValue } from './api/json.ts'
export type { LabelSelector } from './api/label-selector.ts'
export type { UserInfo } from './api/user-info.ts'
export type { PolicyRule } from './api/policy-rule.ts'
export type { models } from './api/kubernetes/models.ts'
export type { ClusterObject, NamespacedObject } from './api/kubernetes/resource.ts'
export { admissionregistration } from './api/kubernetes/admissionregistration.ts'
export { apiextensions } from './api/kubernetes/apiextensions.ts'
export { apiregistration } from './api/kubernetes/apiregistration.ts'
export { apps } from './api/kubernetes/apps.ts'
export { authentication } from './api/kubernetes/authentication.ts'
export { authorization } from './api/kubernetes/authorization.ts'
export { autoscaling } from './api/kubernetes/autoscaling.ts'
export { batch } from './api/kubernetes/batch.ts'
export { certificates } from './api/kubernetes/certificates.ts'
export { coordination } from './api/kubernetes/coordination.ts'
export { core } from './api/kubernetes/core.ts'
export { discovery } from './api/kubernetes/discovery.ts'
export { events } from './api/kubernetes/events.ts'
export { flowcontrol } from './api/kubernetes/flowcontrol.ts'
export { networking } from './api/kubernetes/networking.ts'
export { node } from './api/kubernetes/node.ts'
export { policy } from './api/kubernetes/policy.ts'
export { rbac } from './api/kubernetes/rbac.ts'
export { resource } from './api/kubernetes/dynamic-resources.ts'
export { scheduling } from './api/kubernetes/scheduling.ts'
export { storage } from './api/kubernetes/storage.ts'
export { defineCacheIndex } from './cache/cache-index.ts'
export type { CacheIndex } from './cache/cache-index.ts'
export { cacheView } from './cache/view.ts'
export type { CacheView, CacheViewOptions, CacheViewSelection, ObjectMetadata } from './cache/view.ts'
export type { CacheListOptions, CacheReader } from './cache/cache.ts'
export type { CacheLease, OperatorCache } from './cache/leasing-cache.ts'
export type { Index, StoreListOptions } from './cache/store.ts'
export {
  ApiError,
  isAlreadyExists,
  isApiError,
  isBadRequest,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isNotFound,
  isTooManyRequests,
  isUnauthorized,
} from './client/api-error.ts'
export type { ApiErrorContext } from './client/api-error.ts'
export { createClient } from './client/client.ts'
export type {
  ApplyOptions,
  Client,
  ClientOptions,
  CreateOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  LogOptions,
  PatchOptions,
  RawOptions,
  RequestOptions,
  SelectionOptions,
  UpdateOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client/client.ts'
export type { RequestReport, TransportOptions, WarnedRequest } from './client/transport.ts'
export type { Impersonation } from './client/impersonation.ts'
export { listInPages } from './client/list-in-pages.ts'
export type { PageOptions } from './client/list-in-pages.ts'
export { metadataOnly } from './client/metadata-only.ts'
export type { MetadataOf } from './client/metadata-only.ts'
export type { AppliedOf, ResultOf, ScaleResult, SubresourceTypes, TokenResult, WrittenOf } from './client/subresource-types.ts'
export type { TimedVerb, VerbTimeouts } from './client/timeouts.ts'
export type { ApplyInput, JsonPatchOperation, MergePatch, PatchOf, StatusPatch, Writable } from './client/write-types.ts'
export type { Connection, TlsFiles } from './client/connection.ts'
export { loadConnection } from './client/kubeconfig.ts'
export type { KubeconfigOptions } from './client/kubeconfig.ts'
export { accessReviewRule, isAllowed } from './client/is-allowed.ts'
export type { PathAccess, ResourceAccess } from './client/is-allowed.ts'
export { retryOnConflict } from './client/retry-on-conflict.ts'
export type { RetryOptions } from './client/retry-on-conflict.ts'
export { defineController } from './controller/builder.ts'
export type { ControllerDefinition } from './controller/builder.ts'
export type { ControllerSettings, FinalizerSettings, OwnedType, WatchedType } from './controller/settings.ts'
export type { MapContext, MapFunction } from './controller/enqueue.ts'
export * as predicates from './controller/predicates.ts'
export type { ObjectEvent } from './cache/object-event.ts'
export { exponentialBackoff, slowest, tokenBucket } from './controller/rate-limiter.ts'
export type { BackoffOptions, RateLimiter, TokenBucketOptions } from './controller/rate-limiter.ts'
export * as source from './controller/source.ts'
export { TerminalError } from './controller/reconciler.ts'
export type { ReconcileContext, Result } from './controller/reconciler.ts'
export { applyIfChanged } from './writes/apply-if-changed.ts'
export type { ApplyContext, ApplyIfChangedOptions } from './writes/apply-if-changed.ts'
export { applySet, applySetLabel, dependent } from './writes/apply-set.ts'
export type { AppliedObjects, ApplySetContext, ApplySetOptions, Dependent, OptionalDependent } from './writes/apply-set.ts'
export { createOrPatch } from './writes/create-or-patch.ts'
export type { CreatedOrPatched, CreateOrPatchContext } from './writes/create-or-patch.ts'
export { patchStatusIfChanged } from './writes/patch-status-if-changed.ts'
export { defineConversion } from './conversion/definition.ts'
export type {
  ConversionContext,
  ConversionDefinition,
  ConversionSettings,
  Converted,
  ConvertedMetadata,
  VersionConverter,
  VersionConverters,
} from './conversion/definition.ts'
export { defineWebhook } from './webhook/definition/definition.ts'
export type { Incoming, Verdict, WebhookDefinition, WebhookHandlers } from './webhook/definition/definition.ts'
export type {
  AccessAttributes,
  AdmissionContext,
  GroupVersionResource,
  Operation,
  OperationOptions,
  ReviewContext,
} from './webhook/definition/context.ts'
export type { WebhookFilters, WebhookSettings } from './webhook/definition/settings.ts'
export type { MatchCondition } from './webhook/definition/match-condition.ts'
export type { TlsOptions, TlsVersion } from './webhook/http/tls.ts'
export { anyResource } from './webhook/definition/subresource.ts'
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
} from './webhook/definition/subresource.ts'
export { defineOperator } from './manager/operator.ts'
export type { Operator, OperatorDefinition } from './manager/operator.ts'
export type { HealthChecks } from './manager/operator-checks.ts'
export type { Check as HealthCheck } from './manager/health-handler.ts'
export type { Runnable, RunnableContext } from './manager/runnable.ts'
export { run } from './manager/run.ts'
export type { CertificateOptions } from './manager/certificates.ts'
export type { LeaderElectionOptions } from './manager/leader-election.ts'
export type { LeaseTimes } from './leader-election/leader-elector.ts'
export type { ListenAddress } from './manager/listen-address.ts'
export type { Endpoints, InjectionTargets, RunOptions, WebhookOptions } from './manager/run-options.ts'
export { installOnServing } from './manifests/install.ts'
export type { InstallOptions } from './manifests/install.ts'
export { onTermination } from './manager/termination.ts'
export type { Termination } from './manager/termination.ts'
export { createLogger } from './telemetry/logger.ts'
export type { Logger, LoggerOptions } from './telemetry/logger.ts'
export type { EventOptions, EventRecorder, EventType } from './telemetry/event-recorder.ts'
export { Metrics } from './telemetry/metrics.ts'
