/** Kubernetes' own types as they are in JSON. Written by `npm run kubernetes-models` from @kubernetes/client-node; do not edit. */
export declare namespace models {
  interface AdmissionregistrationV1ServiceReference {
    name: string
    namespace: string
    path?: string
    port?: number
  }

  interface AdmissionregistrationV1WebhookClientConfig {
    caBundle?: string
    service?: AdmissionregistrationV1ServiceReference
    url?: string
  }

  interface ApiextensionsV1ServiceReference {
    name: string
    namespace: string
    path?: string
    port?: number
  }

  interface ApiextensionsV1WebhookClientConfig {
    caBundle?: string
    service?: ApiextensionsV1ServiceReference
    url?: string
  }

  interface ApiregistrationV1ServiceReference {
    name?: string
    namespace?: string
    port?: number
  }

  interface AuthenticationV1TokenRequest {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1TokenRequestSpec
    status?: V1TokenRequestStatus
  }

  interface CoreV1EndpointPort {
    appProtocol?: string
    name?: string
    port: number
    protocol?: string
  }

  interface CoreV1Event {
    action?: string
    apiVersion?: string
    count?: number
    eventTime?: string
    firstTimestamp?: string
    involvedObject: V1ObjectReference
    kind?: string
    lastTimestamp?: string
    message?: string
    metadata: V1ObjectMeta
    reason?: string
    related?: V1ObjectReference
    reportingComponent?: string
    reportingInstance?: string
    series?: CoreV1EventSeries
    source?: V1EventSource
    type?: string
  }

  interface CoreV1EventSeries {
    count?: number
    lastObservedTime?: string
  }

  interface CoreV1ResourceClaim {
    name: string
    request?: string
  }

  interface DiscoveryV1EndpointPort {
    appProtocol?: string
    name?: string
    port?: number
    protocol?: string
  }

  interface EventsV1Event {
    action?: string
    apiVersion?: string
    deprecatedCount?: number
    deprecatedFirstTimestamp?: string
    deprecatedLastTimestamp?: string
    deprecatedSource?: V1EventSource
    eventTime: string
    kind?: string
    metadata?: V1ObjectMeta
    note?: string
    reason?: string
    regarding?: V1ObjectReference
    related?: V1ObjectReference
    reportingController?: string
    reportingInstance?: string
    series?: EventsV1EventSeries
    type?: string
  }

  interface EventsV1EventSeries {
    count: number
    lastObservedTime: string
  }

  interface FlowcontrolV1Subject {
    group?: V1GroupSubject
    kind: string
    serviceAccount?: V1ServiceAccountSubject
    user?: V1UserSubject
  }

  interface RbacV1Subject {
    apiGroup?: string
    kind: string
    name: string
    namespace?: string
  }

  interface StorageV1TokenRequest {
    audience: string
    expirationSeconds?: number
  }

  interface V1APIService {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1APIServiceSpec
    status?: V1APIServiceStatus
  }

  interface V1APIServiceCondition {
    lastTransitionTime?: string
    message?: string
    reason?: string
    status: string
    type: string
  }

  interface V1APIServiceSpec {
    caBundle?: string
    group?: string
    groupPriorityMinimum: number
    insecureSkipTLSVerify?: boolean
    service?: ApiregistrationV1ServiceReference
    version?: string
    versionPriority: number
  }

  interface V1APIServiceStatus {
    conditions?: V1APIServiceCondition[]
  }

  interface V1AWSElasticBlockStoreVolumeSource {
    fsType?: string
    partition?: number
    readOnly?: boolean
    volumeID: string
  }

  interface V1Affinity {
    nodeAffinity?: V1NodeAffinity
    podAffinity?: V1PodAffinity
    podAntiAffinity?: V1PodAntiAffinity
  }

  interface V1AggregationRule {
    clusterRoleSelectors?: V1LabelSelector[]
  }

  interface V1AppArmorProfile {
    localhostProfile?: string
    type: string
  }

  interface V1ApplyConfiguration {
    expression?: string
  }

  interface V1AttachedVolume {
    devicePath: string
    name: string
  }

  interface V1AuditAnnotation {
    key: string
    valueExpression: string
  }

  interface V1AzureDiskVolumeSource {
    cachingMode?: string
    diskName: string
    diskURI: string
    fsType?: string
    kind?: string
    readOnly?: boolean
  }

  interface V1AzureFilePersistentVolumeSource {
    readOnly?: boolean
    secretName: string
    secretNamespace?: string
    shareName: string
  }

  interface V1AzureFileVolumeSource {
    readOnly?: boolean
    secretName: string
    shareName: string
  }

  interface V1Binding {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    target: V1ObjectReference
  }

  interface V1BoundObjectReference {
    apiVersion?: string
    kind?: string
    name?: string
    uid?: string
  }

  interface V1CELDeviceSelector {
    expression: string
  }

  interface V1CSIDriver {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec: V1CSIDriverSpec
  }

  interface V1CSIDriverSpec {
    attachRequired?: boolean
    fsGroupPolicy?: string
    nodeAllocatableUpdatePeriodSeconds?: number
    podInfoOnMount?: boolean
    preventPodSchedulingIfMissing?: boolean
    requiresRepublish?: boolean
    seLinuxMount?: boolean
    serviceAccountTokenInSecrets?: boolean
    storageCapacity?: boolean
    tokenRequests?: StorageV1TokenRequest[]
    volumeLifecycleModes?: string[]
  }

  interface V1CSINode {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec: V1CSINodeSpec
  }

  interface V1CSINodeDriver {
    allocatable?: V1VolumeNodeResources
    name: string
    nodeID: string
    topologyKeys?: string[]
  }

  interface V1CSINodeSpec {
    drivers: V1CSINodeDriver[]
  }

  interface V1CSIPersistentVolumeSource {
    controllerExpandSecretRef?: V1SecretReference
    controllerPublishSecretRef?: V1SecretReference
    driver: string
    fsType?: string
    nodeExpandSecretRef?: V1SecretReference
    nodePublishSecretRef?: V1SecretReference
    nodeStageSecretRef?: V1SecretReference
    readOnly?: boolean
    volumeAttributes?: Record<string, string>
    volumeHandle: string
  }

  interface V1CSIStorageCapacity {
    apiVersion?: string
    capacity?: string
    kind?: string
    maximumVolumeSize?: string
    metadata?: V1ObjectMeta
    nodeTopology?: V1LabelSelector
    storageClassName: string
  }

  interface V1CSIVolumeSource {
    driver: string
    fsType?: string
    nodePublishSecretRef?: V1LocalObjectReference
    readOnly?: boolean
    volumeAttributes?: Record<string, string>
  }

  interface V1Capabilities {
    add?: string[]
    drop?: string[]
  }

  interface V1CapacityRequestPolicy {
    default?: string
    validRange?: V1CapacityRequestPolicyRange
    validValues?: string[]
  }

  interface V1CapacityRequestPolicyRange {
    max?: string
    min: string
    step?: string
  }

  interface V1CapacityRequirements {
    requests?: Record<string, string>
  }

  interface V1CephFSPersistentVolumeSource {
    monitors: string[]
    path?: string
    readOnly?: boolean
    secretFile?: string
    secretRef?: V1SecretReference
    user?: string
  }

  interface V1CephFSVolumeSource {
    monitors: string[]
    path?: string
    readOnly?: boolean
    secretFile?: string
    secretRef?: V1LocalObjectReference
    user?: string
  }

  interface V1CertificateSigningRequest {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec: V1CertificateSigningRequestSpec
    status?: V1CertificateSigningRequestStatus
  }

  interface V1CertificateSigningRequestCondition {
    lastTransitionTime?: string
    lastUpdateTime?: string
    message?: string
    reason?: string
    status: string
    type: string
  }

  interface V1CertificateSigningRequestSpec {
    expirationSeconds?: number
    extra?: Record<string, string[]>
    groups?: string[]
    request: string
    signerName: string
    uid?: string
    usages?: string[]
    username?: string
  }

  interface V1CertificateSigningRequestStatus {
    certificate?: string
    conditions?: V1CertificateSigningRequestCondition[]
  }

  interface V1CinderPersistentVolumeSource {
    fsType?: string
    readOnly?: boolean
    secretRef?: V1SecretReference
    volumeID: string
  }

  interface V1CinderVolumeSource {
    fsType?: string
    readOnly?: boolean
    secretRef?: V1LocalObjectReference
    volumeID: string
  }

  interface V1ClientIPConfig {
    timeoutSeconds?: number
  }

  interface V1ClusterRole {
    aggregationRule?: V1AggregationRule
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    rules?: V1PolicyRule[]
  }

  interface V1ClusterRoleBinding {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    roleRef: V1RoleRef
    subjects?: RbacV1Subject[]
  }

  interface V1ClusterTrustBundleProjection {
    labelSelector?: V1LabelSelector
    name?: string
    optional?: boolean
    path: string
    signerName?: string
  }

  interface V1Condition {
    lastTransitionTime: string
    message: string
    observedGeneration?: number
    reason: string
    status: string
    type: string
  }

  interface V1ConfigMap {
    apiVersion?: string
    binaryData?: Record<string, string>
    data?: Record<string, string>
    immutable?: boolean
    kind?: string
    metadata?: V1ObjectMeta
  }

  interface V1ConfigMapEnvSource {
    name?: string
    optional?: boolean
  }

  interface V1ConfigMapKeySelector {
    key: string
    name?: string
    optional?: boolean
  }

  interface V1ConfigMapNodeConfigSource {
    kubeletConfigKey: string
    name: string
    namespace: string
    resourceVersion?: string
    uid?: string
  }

  interface V1ConfigMapProjection {
    items?: V1KeyToPath[]
    name?: string
    optional?: boolean
  }

  interface V1ConfigMapVolumeSource {
    defaultMode?: number
    items?: V1KeyToPath[]
    name?: string
    optional?: boolean
  }

  interface V1Container {
    args?: string[]
    command?: string[]
    env?: V1EnvVar[]
    envFrom?: V1EnvFromSource[]
    image?: string
    imagePullPolicy?: string
    lifecycle?: V1Lifecycle
    livenessProbe?: V1Probe
    name: string
    ports?: V1ContainerPort[]
    readinessProbe?: V1Probe
    resizePolicy?: V1ContainerResizePolicy[]
    resources?: V1ResourceRequirements
    restartPolicy?: string
    restartPolicyRules?: V1ContainerRestartRule[]
    securityContext?: V1SecurityContext
    startupProbe?: V1Probe
    stdin?: boolean
    stdinOnce?: boolean
    terminationMessagePath?: string
    terminationMessagePolicy?: string
    tty?: boolean
    volumeDevices?: V1VolumeDevice[]
    volumeMounts?: V1VolumeMount[]
    workingDir?: string
  }

  interface V1ContainerExtendedResourceRequest {
    containerName: string
    requestName: string
    resourceName: string
  }

  interface V1ContainerImage {
    names?: string[]
    sizeBytes?: number
  }

  interface V1ContainerPort {
    containerPort: number
    hostIP?: string
    hostPort?: number
    name?: string
    protocol?: string
  }

  interface V1ContainerResizePolicy {
    resourceName: string
    restartPolicy: string
  }

  interface V1ContainerRestartRule {
    action: string
    exitCodes?: V1ContainerRestartRuleOnExitCodes
  }

  interface V1ContainerRestartRuleOnExitCodes {
    operator: string
    values?: number[]
  }

  interface V1ContainerState {
    running?: V1ContainerStateRunning
    terminated?: V1ContainerStateTerminated
    waiting?: V1ContainerStateWaiting
  }

  interface V1ContainerStateRunning {
    startedAt?: string
  }

  interface V1ContainerStateTerminated {
    containerID?: string
    exitCode: number
    finishedAt?: string
    message?: string
    reason?: string
    signal?: number
    startedAt?: string
  }

  interface V1ContainerStateWaiting {
    message?: string
    reason?: string
  }

  interface V1ContainerStatus {
    allocatedResources?: Record<string, string>
    allocatedResourcesStatus?: V1ResourceStatus[]
    containerID?: string
    image: string
    imageID: string
    lastState?: V1ContainerState
    name: string
    ready: boolean
    resources?: V1ResourceRequirements
    restartCount: number
    started?: boolean
    state?: V1ContainerState
    stopSignal?: string
    user?: V1ContainerUser
    volumeMounts?: V1VolumeMountStatus[]
  }

  interface V1ContainerUser {
    linux?: V1LinuxContainerUser
  }

  interface V1ControllerRevision {
    apiVersion?: string
    data?: unknown
    kind?: string
    metadata?: V1ObjectMeta
    revision: number
  }

  interface V1Counter {
    value: string
  }

  interface V1CounterSet {
    counters: Record<string, V1Counter>
    name: string
  }

  interface V1CronJob {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec: V1CronJobSpec
    status?: V1CronJobStatus
  }

  interface V1CronJobSpec {
    concurrencyPolicy?: string
    failedJobsHistoryLimit?: number
    jobTemplate: V1JobTemplateSpec
    schedule: string
    startingDeadlineSeconds?: number
    successfulJobsHistoryLimit?: number
    suspend?: boolean
    timeZone?: string
  }

  interface V1CronJobStatus {
    active?: V1ObjectReference[]
    lastScheduleTime?: string
    lastSuccessfulTime?: string
  }

  interface V1CustomResourceColumnDefinition {
    description?: string
    format?: string
    jsonPath: string
    name: string
    priority?: number
    type: string
  }

  interface V1CustomResourceConversion {
    strategy: string
    webhook?: V1WebhookConversion
  }

  interface V1CustomResourceDefinition {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec: V1CustomResourceDefinitionSpec
    status?: V1CustomResourceDefinitionStatus
  }

  interface V1CustomResourceDefinitionCondition {
    lastTransitionTime?: string
    message?: string
    observedGeneration?: number
    reason?: string
    status: string
    type: string
  }

  interface V1CustomResourceDefinitionNames {
    categories?: string[]
    kind: string
    listKind?: string
    plural: string
    shortNames?: string[]
    singular?: string
  }

  interface V1CustomResourceDefinitionSpec {
    conversion?: V1CustomResourceConversion
    group: string
    names: V1CustomResourceDefinitionNames
    preserveUnknownFields?: boolean
    scope: string
    versions: V1CustomResourceDefinitionVersion[]
  }

  interface V1CustomResourceDefinitionStatus {
    acceptedNames?: V1CustomResourceDefinitionNames
    conditions?: V1CustomResourceDefinitionCondition[]
    observedGeneration?: number
    storedVersions?: string[]
  }

  interface V1CustomResourceDefinitionVersion {
    additionalPrinterColumns?: V1CustomResourceColumnDefinition[]
    deprecated?: boolean
    deprecationWarning?: string
    name: string
    schema?: V1CustomResourceValidation
    selectableFields?: V1SelectableField[]
    served: boolean
    storage: boolean
    subresources?: V1CustomResourceSubresources
  }

  interface V1CustomResourceSubresourceScale {
    labelSelectorPath?: string
    specReplicasPath: string
    statusReplicasPath: string
  }

  interface V1CustomResourceSubresources {
    scale?: V1CustomResourceSubresourceScale
    status?: unknown
  }

  interface V1CustomResourceValidation {
    openAPIV3Schema?: V1JSONSchemaProps
  }

  interface V1DaemonEndpoint {
    Port: number
  }

  interface V1DaemonSet {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1DaemonSetSpec
    status?: V1DaemonSetStatus
  }

  interface V1DaemonSetCondition {
    lastTransitionTime?: string
    message?: string
    reason?: string
    status: string
    type: string
  }

  interface V1DaemonSetSpec {
    minReadySeconds?: number
    revisionHistoryLimit?: number
    selector: V1LabelSelector
    template: V1PodTemplateSpec
    updateStrategy?: V1DaemonSetUpdateStrategy
  }

  interface V1DaemonSetStatus {
    collisionCount?: number
    conditions?: V1DaemonSetCondition[]
    currentNumberScheduled: number
    desiredNumberScheduled: number
    numberAvailable?: number
    numberMisscheduled: number
    numberReady: number
    numberUnavailable?: number
    observedGeneration?: number
    updatedNumberScheduled?: number
  }

  interface V1DaemonSetUpdateStrategy {
    rollingUpdate?: V1RollingUpdateDaemonSet
    type?: string
  }

  interface V1DeleteOptions {
    apiVersion?: string
    dryRun?: string[]
    gracePeriodSeconds?: number
    ignoreStoreReadErrorWithClusterBreakingPotential?: boolean
    kind?: string
    orphanDependents?: boolean
    preconditions?: V1Preconditions
    propagationPolicy?: string
  }

  interface V1Deployment {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1DeploymentSpec
    status?: V1DeploymentStatus
  }

  interface V1DeploymentCondition {
    lastTransitionTime?: string
    lastUpdateTime?: string
    message?: string
    reason?: string
    status: string
    type: string
  }

  interface V1DeploymentSpec {
    minReadySeconds?: number
    paused?: boolean
    progressDeadlineSeconds?: number
    replicas?: number
    revisionHistoryLimit?: number
    selector: V1LabelSelector
    strategy?: V1DeploymentStrategy
    template: V1PodTemplateSpec
  }

  interface V1DeploymentStatus {
    availableReplicas?: number
    collisionCount?: number
    conditions?: V1DeploymentCondition[]
    observedGeneration?: number
    readyReplicas?: number
    replicas?: number
    terminatingReplicas?: number
    unavailableReplicas?: number
    updatedReplicas?: number
  }

  interface V1DeploymentStrategy {
    rollingUpdate?: V1RollingUpdateDeployment
    type?: string
  }

  interface V1Device {
    allNodes?: boolean
    allowMultipleAllocations?: boolean
    attributes?: Record<string, V1DeviceAttribute>
    bindingConditions?: string[]
    bindingFailureConditions?: string[]
    bindsToNode?: boolean
    capacity?: Record<string, V1DeviceCapacity>
    consumesCounters?: V1DeviceCounterConsumption[]
    name: string
    nodeAllocatableResourceMappings?: Record<string, V1NodeAllocatableResourceMapping>
    nodeName?: string
    nodeSelector?: V1NodeSelector
    taints?: V1DeviceTaint[]
  }

  interface V1DeviceAttribute {
    bool?: boolean
    bools?: boolean[]
    int?: number
    ints?: number[]
    string?: string
    strings?: string[]
    version?: string
    versions?: string[]
  }

  interface V1DeviceCapacity {
    requestPolicy?: V1CapacityRequestPolicy
    value: string
  }

  interface V1DeviceClaim {
    config?: V1DeviceClaimConfiguration[]
    constraints?: V1DeviceConstraint[]
    requests?: V1DeviceRequest[]
  }

  interface V1DeviceClaimConfiguration {
    opaque?: V1OpaqueDeviceConfiguration
    requests?: string[]
  }

  interface V1DeviceClass {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec: V1DeviceClassSpec
  }

  interface V1DeviceClassConfiguration {
    opaque?: V1OpaqueDeviceConfiguration
  }

  interface V1DeviceClassSpec {
    config?: V1DeviceClassConfiguration[]
    extendedResourceName?: string
    selectors?: V1DeviceSelector[]
  }

  interface V1DeviceConstraint {
    distinctAttribute?: string
    matchAttribute?: string
    requests?: string[]
  }

  interface V1DeviceCounterConsumption {
    counterSet: string
    counters: Record<string, V1Counter>
  }

  interface V1DeviceRequest {
    exactly?: V1ExactDeviceRequest
    firstAvailable?: V1DeviceSubRequest[]
    name: string
  }

  interface V1DeviceSelector {
    cel?: V1CELDeviceSelector
  }

  interface V1DeviceSubRequest {
    allocationMode?: string
    capacity?: V1CapacityRequirements
    count?: number
    deviceClassName: string
    name: string
    selectors?: V1DeviceSelector[]
    tolerations?: V1DeviceToleration[]
  }

  interface V1DeviceTaint {
    effect: string
    key: string
    timeAdded?: string
    value?: string
  }

  interface V1DeviceToleration {
    effect?: string
    key?: string
    operator?: string
    tolerationSeconds?: number
    value?: string
  }

  interface V1DownwardAPIProjection {
    items?: V1DownwardAPIVolumeFile[]
  }

  interface V1DownwardAPIVolumeFile {
    fieldRef?: V1ObjectFieldSelector
    mode?: number
    path: string
    resourceFieldRef?: V1ResourceFieldSelector
  }

  interface V1DownwardAPIVolumeSource {
    defaultMode?: number
    items?: V1DownwardAPIVolumeFile[]
  }

  interface V1EmptyDirVolumeSource {
    medium?: string
    sizeLimit?: string
  }

  interface V1Endpoint {
    addresses: string[]
    conditions?: V1EndpointConditions
    deprecatedTopology?: Record<string, string>
    hints?: V1EndpointHints
    hostname?: string
    nodeName?: string
    targetRef?: V1ObjectReference
    zone?: string
  }

  interface V1EndpointAddress {
    hostname?: string
    ip: string
    nodeName?: string
    targetRef?: V1ObjectReference
  }

  interface V1EndpointConditions {
    ready?: boolean
    serving?: boolean
    terminating?: boolean
  }

  interface V1EndpointHints {
    forNodes?: V1ForNode[]
    forZones?: V1ForZone[]
  }

  interface V1EndpointSlice {
    addressType: string
    apiVersion?: string
    endpoints?: V1Endpoint[]
    kind?: string
    metadata?: V1ObjectMeta
    ports?: DiscoveryV1EndpointPort[]
  }

  interface V1EndpointSubset {
    addresses?: V1EndpointAddress[]
    notReadyAddresses?: V1EndpointAddress[]
    ports?: CoreV1EndpointPort[]
  }

  interface V1Endpoints {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    subsets?: V1EndpointSubset[]
  }

  interface V1EnvFromSource {
    configMapRef?: V1ConfigMapEnvSource
    prefix?: string
    secretRef?: V1SecretEnvSource
  }

  interface V1EnvVar {
    name: string
    value?: string
    valueFrom?: V1EnvVarSource
  }

  interface V1EnvVarSource {
    configMapKeyRef?: V1ConfigMapKeySelector
    fieldRef?: V1ObjectFieldSelector
    fileKeyRef?: V1FileKeySelector
    resourceFieldRef?: V1ResourceFieldSelector
    secretKeyRef?: V1SecretKeySelector
  }

  interface V1EphemeralContainer {
    args?: string[]
    command?: string[]
    env?: V1EnvVar[]
    envFrom?: V1EnvFromSource[]
    image?: string
    imagePullPolicy?: string
    lifecycle?: V1Lifecycle
    livenessProbe?: V1Probe
    name: string
    ports?: V1ContainerPort[]
    readinessProbe?: V1Probe
    resizePolicy?: V1ContainerResizePolicy[]
    resources?: V1ResourceRequirements
    restartPolicy?: string
    restartPolicyRules?: V1ContainerRestartRule[]
    securityContext?: V1SecurityContext
    startupProbe?: V1Probe
    stdin?: boolean
    stdinOnce?: boolean
    targetContainerName?: string
    terminationMessagePath?: string
    terminationMessagePolicy?: string
    tty?: boolean
    volumeDevices?: V1VolumeDevice[]
    volumeMounts?: V1VolumeMount[]
    workingDir?: string
  }

  interface V1EphemeralVolumeSource {
    volumeClaimTemplate?: V1PersistentVolumeClaimTemplate
  }

  interface V1EventSource {
    component?: string
    host?: string
  }

  interface V1Eviction {
    apiVersion?: string
    deleteOptions?: V1DeleteOptions
    kind?: string
    metadata?: V1ObjectMeta
  }

  interface V1ExactDeviceRequest {
    adminAccess?: boolean
    allocationMode?: string
    capacity?: V1CapacityRequirements
    count?: number
    deviceClassName: string
    selectors?: V1DeviceSelector[]
    tolerations?: V1DeviceToleration[]
  }

  interface V1ExecAction {
    command?: string[]
  }

  interface V1ExemptPriorityLevelConfiguration {
    lendablePercent?: number
    nominalConcurrencyShares?: number
  }

  interface V1ExpressionWarning {
    fieldRef: string
    warning: string
  }

  interface V1ExternalDocumentation {
    description?: string
    url?: string
  }

  interface V1FCVolumeSource {
    fsType?: string
    lun?: number
    readOnly?: boolean
    targetWWNs?: string[]
    wwids?: string[]
  }

  interface V1FieldSelectorAttributes {
    rawSelector?: string
    requirements?: V1FieldSelectorRequirement[]
  }

  interface V1FieldSelectorRequirement {
    key: string
    operator: string
    values?: string[]
  }

  interface V1FileKeySelector {
    key: string
    optional?: boolean
    path: string
    volumeName: string
  }

  interface V1FlexPersistentVolumeSource {
    driver: string
    fsType?: string
    options?: Record<string, string>
    readOnly?: boolean
    secretRef?: V1SecretReference
  }

  interface V1FlexVolumeSource {
    driver: string
    fsType?: string
    options?: Record<string, string>
    readOnly?: boolean
    secretRef?: V1LocalObjectReference
  }

  interface V1FlockerVolumeSource {
    datasetName?: string
    datasetUUID?: string
  }

  interface V1FlowDistinguisherMethod {
    type: string
  }

  interface V1FlowSchema {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1FlowSchemaSpec
    status?: V1FlowSchemaStatus
  }

  interface V1FlowSchemaCondition {
    lastTransitionTime?: string
    message?: string
    reason?: string
    status?: string
    type?: string
  }

  interface V1FlowSchemaSpec {
    distinguisherMethod?: V1FlowDistinguisherMethod
    matchingPrecedence?: number
    priorityLevelConfiguration: V1PriorityLevelConfigurationReference
    rules?: V1PolicyRulesWithSubjects[]
  }

  interface V1FlowSchemaStatus {
    conditions?: V1FlowSchemaCondition[]
  }

  interface V1ForNode {
    name: string
  }

  interface V1ForZone {
    name: string
  }

  interface V1GCEPersistentDiskVolumeSource {
    fsType?: string
    partition?: number
    pdName: string
    readOnly?: boolean
  }

  interface V1GRPCAction {
    port: number
    service?: string
  }

  interface V1GitRepoVolumeSource {
    directory?: string
    repository: string
    revision?: string
  }

  interface V1GlusterfsPersistentVolumeSource {
    endpoints: string
    endpointsNamespace?: string
    path: string
    readOnly?: boolean
  }

  interface V1GlusterfsVolumeSource {
    endpoints: string
    path: string
    readOnly?: boolean
  }

  interface V1GroupSubject {
    name: string
  }

  interface V1HTTPGetAction {
    host?: string
    httpHeaders?: V1HTTPHeader[]
    path?: string
    port: number | string
    scheme?: string
  }

  interface V1HTTPHeader {
    name: string
    value: string
  }

  interface V1HTTPIngressPath {
    backend: V1IngressBackend
    path?: string
    pathType: string
  }

  interface V1HTTPIngressRuleValue {
    paths: V1HTTPIngressPath[]
  }

  interface V1HostAlias {
    hostnames?: string[]
    ip: string
  }

  interface V1HostIP {
    ip: string
  }

  interface V1HostPathVolumeSource {
    path: string
    type?: string
  }

  interface V1IPAddress {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec: V1IPAddressSpec
  }

  interface V1IPAddressSpec {
    parentRef: V1ParentReference
  }

  interface V1IPBlock {
    cidr: string
    except?: string[]
  }

  interface V1ISCSIPersistentVolumeSource {
    chapAuthDiscovery?: boolean
    chapAuthSession?: boolean
    fsType?: string
    initiatorName?: string
    iqn: string
    iscsiInterface?: string
    lun: number
    portals?: string[]
    readOnly?: boolean
    secretRef?: V1SecretReference
    targetPortal: string
  }

  interface V1ISCSIVolumeSource {
    chapAuthDiscovery?: boolean
    chapAuthSession?: boolean
    fsType?: string
    initiatorName?: string
    iqn: string
    iscsiInterface?: string
    lun: number
    portals?: string[]
    readOnly?: boolean
    secretRef?: V1LocalObjectReference
    targetPortal: string
  }

  interface V1ImageVolumeSource {
    pullPolicy?: string
    reference?: string
  }

  interface V1ImageVolumeStatus {
    imageRef: string
  }

  interface V1Ingress {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1IngressSpec
    status?: V1IngressStatus
  }

  interface V1IngressBackend {
    resource?: V1TypedLocalObjectReference
    service?: V1IngressServiceBackend
  }

  interface V1IngressClass {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1IngressClassSpec
  }

  interface V1IngressClassParametersReference {
    apiGroup?: string
    kind: string
    name: string
    namespace?: string
    scope?: string
  }

  interface V1IngressClassSpec {
    controller?: string
    parameters?: V1IngressClassParametersReference
  }

  interface V1IngressLoadBalancerIngress {
    hostname?: string
    ip?: string
    ports?: V1IngressPortStatus[]
  }

  interface V1IngressLoadBalancerStatus {
    ingress?: V1IngressLoadBalancerIngress[]
  }

  interface V1IngressPortStatus {
    error?: string
    port: number
    protocol: string
  }

  interface V1IngressRule {
    host?: string
    http?: V1HTTPIngressRuleValue
  }

  interface V1IngressServiceBackend {
    name: string
    port?: V1ServiceBackendPort
  }

  interface V1IngressSpec {
    defaultBackend?: V1IngressBackend
    ingressClassName?: string
    rules?: V1IngressRule[]
    tls?: V1IngressTLS[]
  }

  interface V1IngressStatus {
    loadBalancer?: V1IngressLoadBalancerStatus
  }

  interface V1IngressTLS {
    hosts?: string[]
    secretName?: string
  }

  interface V1JSONPatch {
    expression?: string
  }

  interface V1JSONSchemaProps {
    $ref?: string
    $schema?: string
    additionalItems?: unknown
    additionalProperties?: unknown
    allOf?: V1JSONSchemaProps[]
    anyOf?: V1JSONSchemaProps[]
    default?: unknown
    definitions?: Record<string, V1JSONSchemaProps>
    dependencies?: Record<string, unknown>
    description?: string
    enum?: unknown[]
    example?: unknown
    exclusiveMaximum?: boolean
    exclusiveMinimum?: boolean
    externalDocs?: V1ExternalDocumentation
    format?: string
    id?: string
    items?: unknown
    maxItems?: number
    maxLength?: number
    maxProperties?: number
    maximum?: number
    minItems?: number
    minLength?: number
    minProperties?: number
    minimum?: number
    multipleOf?: number
    not?: V1JSONSchemaProps
    nullable?: boolean
    oneOf?: V1JSONSchemaProps[]
    pattern?: string
    patternProperties?: Record<string, V1JSONSchemaProps>
    properties?: Record<string, V1JSONSchemaProps>
    required?: string[]
    title?: string
    type?: string
    uniqueItems?: boolean
    'x-kubernetes-embedded-resource'?: boolean
    'x-kubernetes-int-or-string'?: boolean
    'x-kubernetes-list-map-keys'?: string[]
    'x-kubernetes-list-type'?: string
    'x-kubernetes-map-type'?: string
    'x-kubernetes-preserve-unknown-fields'?: boolean
    'x-kubernetes-validations'?: V1ValidationRule[]
  }

  interface V1Job {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1JobSpec
    status?: V1JobStatus
  }

  interface V1JobCondition {
    lastProbeTime?: string
    lastTransitionTime?: string
    message?: string
    reason?: string
    status: string
    type: string
  }

  interface V1JobSpec {
    activeDeadlineSeconds?: number
    backoffLimit?: number
    backoffLimitPerIndex?: number
    completionMode?: string
    completions?: number
    managedBy?: string
    manualSelector?: boolean
    maxFailedIndexes?: number
    parallelism?: number
    podFailurePolicy?: V1PodFailurePolicy
    podReplacementPolicy?: string
    selector?: V1LabelSelector
    successPolicy?: V1SuccessPolicy
    suspend?: boolean
    template: V1PodTemplateSpec
    ttlSecondsAfterFinished?: number
  }

  interface V1JobStatus {
    active?: number
    completedIndexes?: string
    completionTime?: string
    conditions?: V1JobCondition[]
    failed?: number
    failedIndexes?: string
    ready?: number
    startTime?: string
    succeeded?: number
    terminating?: number
    uncountedTerminatedPods?: V1UncountedTerminatedPods
  }

  interface V1JobTemplateSpec {
    metadata?: V1ObjectMeta
    spec?: V1JobSpec
  }

  interface V1KeyToPath {
    key: string
    mode?: number
    path: string
  }

  interface V1LabelSelector {
    matchExpressions?: V1LabelSelectorRequirement[]
    matchLabels?: Record<string, string>
  }

  interface V1LabelSelectorAttributes {
    rawSelector?: string
    requirements?: V1LabelSelectorRequirement[]
  }

  interface V1LabelSelectorRequirement {
    key: string
    operator: string
    values?: string[]
  }

  interface V1Lease {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1LeaseSpec
  }

  interface V1LeaseSpec {
    acquireTime?: string
    holderIdentity?: string
    leaseDurationSeconds?: number
    leaseTransitions?: number
    preferredHolder?: string
    renewTime?: string
    strategy?: string
  }

  interface V1Lifecycle {
    postStart?: V1LifecycleHandler
    preStop?: V1LifecycleHandler
    stopSignal?: string
  }

  interface V1LifecycleHandler {
    exec?: V1ExecAction
    httpGet?: V1HTTPGetAction
    sleep?: V1SleepAction
    tcpSocket?: V1TCPSocketAction
  }

  interface V1LimitRange {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1LimitRangeSpec
  }

  interface V1LimitRangeItem {
    default?: Record<string, string>
    defaultRequest?: Record<string, string>
    max?: Record<string, string>
    maxLimitRequestRatio?: Record<string, string>
    min?: Record<string, string>
    type: string
  }

  interface V1LimitRangeSpec {
    limits: V1LimitRangeItem[]
  }

  interface V1LimitResponse {
    queuing?: V1QueuingConfiguration
    type: string
  }

  interface V1LimitedPriorityLevelConfiguration {
    borrowingLimitPercent?: number
    lendablePercent?: number
    limitResponse?: V1LimitResponse
    nominalConcurrencyShares?: number
  }

  interface V1LinuxContainerUser {
    gid: number
    supplementalGroups?: number[]
    uid: number
  }

  interface V1LoadBalancerIngress {
    hostname?: string
    ip?: string
    ipMode?: string
    ports?: V1PortStatus[]
  }

  interface V1LoadBalancerStatus {
    ingress?: V1LoadBalancerIngress[]
  }

  interface V1LocalObjectReference {
    name?: string
  }

  interface V1LocalSubjectAccessReview {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec: V1SubjectAccessReviewSpec
    status?: V1SubjectAccessReviewStatus
  }

  interface V1LocalVolumeSource {
    fsType?: string
    path: string
  }

  interface V1ManagedFieldsEntry {
    apiVersion?: string
    fieldsType?: string
    fieldsV1?: unknown
    manager?: string
    operation?: string
    subresource?: string
    time?: string
  }

  interface V1MatchCondition {
    expression: string
    name: string
  }

  interface V1MatchResources {
    excludeResourceRules?: V1NamedRuleWithOperations[]
    matchPolicy?: string
    namespaceSelector?: V1LabelSelector
    objectSelector?: V1LabelSelector
    resourceRules?: V1NamedRuleWithOperations[]
  }

  interface V1ModifyVolumeStatus {
    status: string
    targetVolumeAttributesClassName?: string
  }

  interface V1MutatingAdmissionPolicy {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1MutatingAdmissionPolicySpec
  }

  interface V1MutatingAdmissionPolicyBinding {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1MutatingAdmissionPolicyBindingSpec
  }

  interface V1MutatingAdmissionPolicyBindingSpec {
    matchResources?: V1MatchResources
    paramRef?: V1ParamRef
    policyName?: string
  }

  interface V1MutatingAdmissionPolicySpec {
    failurePolicy?: string
    matchConditions?: V1MatchCondition[]
    matchConstraints?: V1MatchResources
    mutations?: V1Mutation[]
    paramKind?: V1ParamKind
    reinvocationPolicy?: string
    variables?: V1Variable[]
  }

  interface V1MutatingWebhook {
    admissionReviewVersions: string[]
    clientConfig: AdmissionregistrationV1WebhookClientConfig
    failurePolicy?: string
    matchConditions?: V1MatchCondition[]
    matchPolicy?: string
    name: string
    namespaceSelector?: V1LabelSelector
    objectSelector?: V1LabelSelector
    reinvocationPolicy?: string
    rules?: V1RuleWithOperations[]
    sideEffects: string
    timeoutSeconds?: number
  }

  interface V1MutatingWebhookConfiguration {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    webhooks?: V1MutatingWebhook[]
  }

  interface V1Mutation {
    applyConfiguration?: V1ApplyConfiguration
    jsonPatch?: V1JSONPatch
    patchType: string
  }

  interface V1NFSVolumeSource {
    path: string
    readOnly?: boolean
    server: string
  }

  interface V1NamedRuleWithOperations {
    apiGroups?: string[]
    apiVersions?: string[]
    operations?: string[]
    resourceNames?: string[]
    resources?: string[]
    scope?: string
  }

  interface V1Namespace {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1NamespaceSpec
    status?: V1NamespaceStatus
  }

  interface V1NamespaceCondition {
    lastTransitionTime?: string
    message?: string
    reason?: string
    status: string
    type: string
  }

  interface V1NamespaceSpec {
    finalizers?: string[]
  }

  interface V1NamespaceStatus {
    conditions?: V1NamespaceCondition[]
    phase?: string
  }

  interface V1NetworkPolicy {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1NetworkPolicySpec
  }

  interface V1NetworkPolicyEgressRule {
    ports?: V1NetworkPolicyPort[]
    to?: V1NetworkPolicyPeer[]
  }

  interface V1NetworkPolicyIngressRule {
    from?: V1NetworkPolicyPeer[]
    ports?: V1NetworkPolicyPort[]
  }

  interface V1NetworkPolicyPeer {
    ipBlock?: V1IPBlock
    namespaceSelector?: V1LabelSelector
    podSelector?: V1LabelSelector
  }

  interface V1NetworkPolicyPort {
    endPort?: number
    port?: number | string
    protocol?: string
  }

  interface V1NetworkPolicySpec {
    egress?: V1NetworkPolicyEgressRule[]
    ingress?: V1NetworkPolicyIngressRule[]
    podSelector?: V1LabelSelector
    policyTypes?: string[]
  }

  interface V1Node {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1NodeSpec
    status?: V1NodeStatus
  }

  interface V1NodeAddress {
    address: string
    type: string
  }

  interface V1NodeAffinity {
    preferredDuringSchedulingIgnoredDuringExecution?: V1PreferredSchedulingTerm[]
    requiredDuringSchedulingIgnoredDuringExecution?: V1NodeSelector
  }

  interface V1NodeAllocatableResourceClaimStatus {
    containers?: string[]
    resourceClaimName: string
    resources: Record<string, string>
  }

  interface V1NodeAllocatableResourceMapping {
    allocationMultiplier?: string
    capacityKey?: string
  }

  interface V1NodeCondition {
    lastHeartbeatTime?: string
    lastTransitionTime?: string
    message?: string
    reason?: string
    status: string
    type: string
  }

  interface V1NodeConfigSource {
    configMap?: V1ConfigMapNodeConfigSource
  }

  interface V1NodeConfigStatus {
    active?: V1NodeConfigSource
    assigned?: V1NodeConfigSource
    error?: string
    lastKnownGood?: V1NodeConfigSource
  }

  interface V1NodeDaemonEndpoints {
    kubeletEndpoint?: V1DaemonEndpoint
  }

  interface V1NodeFeatures {
    supplementalGroupsPolicy?: boolean
  }

  interface V1NodeRuntimeHandler {
    features?: V1NodeRuntimeHandlerFeatures
    name?: string
  }

  interface V1NodeRuntimeHandlerFeatures {
    recursiveReadOnlyMounts?: boolean
    userNamespaces?: boolean
  }

  interface V1NodeSelector {
    nodeSelectorTerms: V1NodeSelectorTerm[]
  }

  interface V1NodeSelectorRequirement {
    key: string
    operator: string
    values?: string[]
  }

  interface V1NodeSelectorTerm {
    matchExpressions?: V1NodeSelectorRequirement[]
    matchFields?: V1NodeSelectorRequirement[]
  }

  interface V1NodeSpec {
    configSource?: V1NodeConfigSource
    externalID?: string
    podCIDR?: string
    podCIDRs?: string[]
    providerID?: string
    taints?: V1Taint[]
    unschedulable?: boolean
  }

  interface V1NodeStatus {
    addresses?: V1NodeAddress[]
    allocatable?: Record<string, string>
    capacity?: Record<string, string>
    conditions?: V1NodeCondition[]
    config?: V1NodeConfigStatus
    daemonEndpoints?: V1NodeDaemonEndpoints
    declaredFeatures?: string[]
    features?: V1NodeFeatures
    images?: V1ContainerImage[]
    nodeInfo?: V1NodeSystemInfo
    phase?: string
    runtimeHandlers?: V1NodeRuntimeHandler[]
    volumesAttached?: V1AttachedVolume[]
    volumesInUse?: string[]
  }

  interface V1NodeSwapStatus {
    capacity?: number
  }

  interface V1NodeSystemInfo {
    architecture: string
    bootID: string
    containerRuntimeVersion: string
    kernelVersion: string
    kubeProxyVersion: string
    kubeletVersion: string
    machineID: string
    operatingSystem: string
    osImage: string
    swap?: V1NodeSwapStatus
    systemUUID: string
  }

  interface V1NonResourceAttributes {
    path?: string
    verb?: string
  }

  interface V1NonResourcePolicyRule {
    nonResourceURLs: string[]
    verbs: string[]
  }

  interface V1NonResourceRule {
    nonResourceURLs?: string[]
    verbs: string[]
  }

  interface V1ObjectFieldSelector {
    apiVersion?: string
    fieldPath: string
  }

  interface V1ObjectMeta {
    annotations?: Record<string, string>
    creationTimestamp?: string
    deletionGracePeriodSeconds?: number
    deletionTimestamp?: string
    finalizers?: string[]
    generateName?: string
    generation?: number
    labels?: Record<string, string>
    managedFields?: V1ManagedFieldsEntry[]
    name?: string
    namespace?: string
    ownerReferences?: V1OwnerReference[]
    resourceVersion?: string
    selfLink?: string
    uid?: string
  }

  interface V1ObjectReference {
    apiVersion?: string
    fieldPath?: string
    kind?: string
    name?: string
    namespace?: string
    resourceVersion?: string
    uid?: string
  }

  interface V1OpaqueDeviceConfiguration {
    driver: string
    parameters: unknown
  }

  interface V1Overhead {
    podFixed?: Record<string, string>
  }

  interface V1OwnerReference {
    apiVersion: string
    blockOwnerDeletion?: boolean
    controller?: boolean
    kind: string
    name: string
    uid: string
  }

  interface V1ParamKind {
    apiVersion?: string
    kind?: string
  }

  interface V1ParamRef {
    name?: string
    namespace?: string
    parameterNotFoundAction?: string
    selector?: V1LabelSelector
  }

  interface V1ParentReference {
    group?: string
    name: string
    namespace?: string
    resource: string
  }

  interface V1PersistentVolume {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1PersistentVolumeSpec
    status?: V1PersistentVolumeStatus
  }

  interface V1PersistentVolumeClaim {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1PersistentVolumeClaimSpec
    status?: V1PersistentVolumeClaimStatus
  }

  interface V1PersistentVolumeClaimCondition {
    lastProbeTime?: string
    lastTransitionTime?: string
    message?: string
    reason?: string
    status: string
    type: string
  }

  interface V1PersistentVolumeClaimSpec {
    accessModes?: string[]
    dataSource?: V1TypedLocalObjectReference
    dataSourceRef?: V1TypedObjectReference
    resources?: V1VolumeResourceRequirements
    selector?: V1LabelSelector
    storageClassName?: string
    volumeAttributesClassName?: string
    volumeMode?: string
    volumeName?: string
  }

  interface V1PersistentVolumeClaimStatus {
    accessModes?: string[]
    allocatedResourceStatuses?: Record<string, string>
    allocatedResources?: Record<string, string>
    capacity?: Record<string, string>
    conditions?: V1PersistentVolumeClaimCondition[]
    currentVolumeAttributesClassName?: string
    modifyVolumeStatus?: V1ModifyVolumeStatus
    phase?: string
  }

  interface V1PersistentVolumeClaimTemplate {
    metadata?: V1ObjectMeta
    spec: V1PersistentVolumeClaimSpec
  }

  interface V1PersistentVolumeClaimVolumeSource {
    claimName: string
    readOnly?: boolean
  }

  interface V1PersistentVolumeSpec {
    accessModes?: string[]
    awsElasticBlockStore?: V1AWSElasticBlockStoreVolumeSource
    azureDisk?: V1AzureDiskVolumeSource
    azureFile?: V1AzureFilePersistentVolumeSource
    capacity?: Record<string, string>
    cephfs?: V1CephFSPersistentVolumeSource
    cinder?: V1CinderPersistentVolumeSource
    claimRef?: V1ObjectReference
    csi?: V1CSIPersistentVolumeSource
    fc?: V1FCVolumeSource
    flexVolume?: V1FlexPersistentVolumeSource
    flocker?: V1FlockerVolumeSource
    gcePersistentDisk?: V1GCEPersistentDiskVolumeSource
    glusterfs?: V1GlusterfsPersistentVolumeSource
    hostPath?: V1HostPathVolumeSource
    iscsi?: V1ISCSIPersistentVolumeSource
    local?: V1LocalVolumeSource
    mountOptions?: string[]
    nfs?: V1NFSVolumeSource
    nodeAffinity?: V1VolumeNodeAffinity
    persistentVolumeReclaimPolicy?: string
    photonPersistentDisk?: V1PhotonPersistentDiskVolumeSource
    portworxVolume?: V1PortworxVolumeSource
    quobyte?: V1QuobyteVolumeSource
    rbd?: V1RBDPersistentVolumeSource
    scaleIO?: V1ScaleIOPersistentVolumeSource
    storageClassName?: string
    storageos?: V1StorageOSPersistentVolumeSource
    volumeAttributesClassName?: string
    volumeMode?: string
    vsphereVolume?: V1VsphereVirtualDiskVolumeSource
  }

  interface V1PersistentVolumeStatus {
    lastPhaseTransitionTime?: string
    message?: string
    phase?: string
    reason?: string
  }

  interface V1PhotonPersistentDiskVolumeSource {
    fsType?: string
    pdID: string
  }

  interface V1Pod {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1PodSpec
    status?: V1PodStatus
  }

  interface V1PodAffinity {
    preferredDuringSchedulingIgnoredDuringExecution?: V1WeightedPodAffinityTerm[]
    requiredDuringSchedulingIgnoredDuringExecution?: V1PodAffinityTerm[]
  }

  interface V1PodAffinityTerm {
    labelSelector?: V1LabelSelector
    matchLabelKeys?: string[]
    mismatchLabelKeys?: string[]
    namespaceSelector?: V1LabelSelector
    namespaces?: string[]
    topologyKey: string
  }

  interface V1PodAntiAffinity {
    preferredDuringSchedulingIgnoredDuringExecution?: V1WeightedPodAffinityTerm[]
    requiredDuringSchedulingIgnoredDuringExecution?: V1PodAffinityTerm[]
  }

  interface V1PodCertificateProjection {
    certificateChainPath?: string
    credentialBundlePath?: string
    keyPath?: string
    keyType: string
    maxExpirationSeconds?: number
    signerName: string
    userAnnotations?: Record<string, string>
  }

  interface V1PodCondition {
    lastProbeTime?: string
    lastTransitionTime?: string
    message?: string
    observedGeneration?: number
    reason?: string
    status: string
    type: string
  }

  interface V1PodDNSConfig {
    nameservers?: string[]
    options?: V1PodDNSConfigOption[]
    searches?: string[]
  }

  interface V1PodDNSConfigOption {
    name?: string
    value?: string
  }

  interface V1PodDisruptionBudget {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1PodDisruptionBudgetSpec
    status?: V1PodDisruptionBudgetStatus
  }

  interface V1PodDisruptionBudgetSpec {
    maxUnavailable?: number | string
    minAvailable?: number | string
    selector?: V1LabelSelector
    unhealthyPodEvictionPolicy?: string
  }

  interface V1PodDisruptionBudgetStatus {
    conditions?: V1Condition[]
    currentHealthy?: number
    desiredHealthy?: number
    disruptedPods?: Record<string, string>
    disruptionsAllowed?: number
    expectedPods?: number
    observedGeneration?: number
  }

  interface V1PodExtendedResourceClaimStatus {
    requestMappings: V1ContainerExtendedResourceRequest[]
    resourceClaimName: string
  }

  interface V1PodFailurePolicy {
    rules: V1PodFailurePolicyRule[]
  }

  interface V1PodFailurePolicyOnExitCodesRequirement {
    containerName?: string
    operator: string
    values: number[]
  }

  interface V1PodFailurePolicyOnPodConditionsPattern {
    status?: string
    type: string
  }

  interface V1PodFailurePolicyRule {
    action: string
    onExitCodes?: V1PodFailurePolicyOnExitCodesRequirement
    onPodConditions?: V1PodFailurePolicyOnPodConditionsPattern[]
  }

  interface V1PodIP {
    ip: string
  }

  interface V1PodOS {
    name: string
  }

  interface V1PodReadinessGate {
    conditionType: string
  }

  interface V1PodResourceClaim {
    name: string
    resourceClaimName?: string
    resourceClaimTemplateName?: string
  }

  interface V1PodResourceClaimStatus {
    name: string
    resourceClaimName?: string
  }

  interface V1PodSchedulingGate {
    name: string
  }

  interface V1PodSchedulingGroup {
    podGroupName?: string
  }

  interface V1PodSecurityContext {
    appArmorProfile?: V1AppArmorProfile
    fsGroup?: number
    fsGroupChangePolicy?: string
    runAsGroup?: number
    runAsNonRoot?: boolean
    runAsUser?: number
    seLinuxChangePolicy?: string
    seLinuxOptions?: V1SELinuxOptions
    seccompProfile?: V1SeccompProfile
    supplementalGroups?: number[]
    supplementalGroupsPolicy?: string
    sysctls?: V1Sysctl[]
    windowsOptions?: V1WindowsSecurityContextOptions
  }

  interface V1PodSpec {
    activeDeadlineSeconds?: number
    affinity?: V1Affinity
    automountServiceAccountToken?: boolean
    containers: V1Container[]
    dnsConfig?: V1PodDNSConfig
    dnsPolicy?: string
    enableServiceLinks?: boolean
    ephemeralContainers?: V1EphemeralContainer[]
    hostAliases?: V1HostAlias[]
    hostIPC?: boolean
    hostNetwork?: boolean
    hostPID?: boolean
    hostUsers?: boolean
    hostname?: string
    hostnameOverride?: string
    imagePullSecrets?: V1LocalObjectReference[]
    initContainers?: V1Container[]
    nodeName?: string
    nodeSelector?: Record<string, string>
    os?: V1PodOS
    overhead?: Record<string, string>
    preemptionPolicy?: string
    priority?: number
    priorityClassName?: string
    readinessGates?: V1PodReadinessGate[]
    resourceClaims?: V1PodResourceClaim[]
    resources?: V1ResourceRequirements
    restartPolicy?: string
    runtimeClassName?: string
    schedulerName?: string
    schedulingGates?: V1PodSchedulingGate[]
    schedulingGroup?: V1PodSchedulingGroup
    securityContext?: V1PodSecurityContext
    serviceAccount?: string
    serviceAccountName?: string
    setHostnameAsFQDN?: boolean
    shareProcessNamespace?: boolean
    subdomain?: string
    terminationGracePeriodSeconds?: number
    tolerations?: V1Toleration[]
    topologySpreadConstraints?: V1TopologySpreadConstraint[]
    volumes?: V1Volume[]
  }

  interface V1PodStatus {
    allocatedResources?: Record<string, string>
    conditions?: V1PodCondition[]
    containerStatuses?: V1ContainerStatus[]
    ephemeralContainerStatuses?: V1ContainerStatus[]
    extendedResourceClaimStatus?: V1PodExtendedResourceClaimStatus
    hostIP?: string
    hostIPs?: V1HostIP[]
    initContainerStatuses?: V1ContainerStatus[]
    message?: string
    nodeAllocatableResourceClaimStatuses?: V1NodeAllocatableResourceClaimStatus[]
    nominatedNodeName?: string
    observedGeneration?: number
    phase?: string
    podIP?: string
    podIPs?: V1PodIP[]
    qosClass?: string
    reason?: string
    resize?: string
    resourceClaimStatuses?: V1PodResourceClaimStatus[]
    resources?: V1ResourceRequirements
    startTime?: string
  }

  interface V1PodTemplate {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    template?: V1PodTemplateSpec
  }

  interface V1PodTemplateSpec {
    metadata?: V1ObjectMeta
    spec?: V1PodSpec
  }

  interface V1PolicyRule {
    apiGroups?: string[]
    nonResourceURLs?: string[]
    resourceNames?: string[]
    resources?: string[]
    verbs: string[]
  }

  interface V1PolicyRulesWithSubjects {
    nonResourceRules?: V1NonResourcePolicyRule[]
    resourceRules?: V1ResourcePolicyRule[]
    subjects: FlowcontrolV1Subject[]
  }

  interface V1PortStatus {
    error?: string
    port: number
    protocol: string
  }

  interface V1PortworxVolumeSource {
    fsType?: string
    readOnly?: boolean
    volumeID: string
  }

  interface V1Preconditions {
    resourceVersion?: string
    uid?: string
  }

  interface V1PreferredSchedulingTerm {
    preference: V1NodeSelectorTerm
    weight: number
  }

  interface V1PriorityClass {
    apiVersion?: string
    description?: string
    globalDefault?: boolean
    kind?: string
    metadata?: V1ObjectMeta
    preemptionPolicy?: string
    value?: number
  }

  interface V1PriorityLevelConfiguration {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1PriorityLevelConfigurationSpec
    status?: V1PriorityLevelConfigurationStatus
  }

  interface V1PriorityLevelConfigurationCondition {
    lastTransitionTime?: string
    message?: string
    reason?: string
    status?: string
    type?: string
  }

  interface V1PriorityLevelConfigurationReference {
    name: string
  }

  interface V1PriorityLevelConfigurationSpec {
    exempt?: V1ExemptPriorityLevelConfiguration
    limited?: V1LimitedPriorityLevelConfiguration
    type: string
  }

  interface V1PriorityLevelConfigurationStatus {
    conditions?: V1PriorityLevelConfigurationCondition[]
  }

  interface V1Probe {
    exec?: V1ExecAction
    failureThreshold?: number
    grpc?: V1GRPCAction
    httpGet?: V1HTTPGetAction
    initialDelaySeconds?: number
    periodSeconds?: number
    successThreshold?: number
    tcpSocket?: V1TCPSocketAction
    terminationGracePeriodSeconds?: number
    timeoutSeconds?: number
  }

  interface V1ProjectedVolumeSource {
    defaultMode?: number
    sources?: V1VolumeProjection[]
  }

  interface V1QueuingConfiguration {
    handSize?: number
    queueLengthLimit?: number
    queues?: number
  }

  interface V1QuobyteVolumeSource {
    group?: string
    readOnly?: boolean
    registry: string
    tenant?: string
    user?: string
    volume: string
  }

  interface V1RBDPersistentVolumeSource {
    fsType?: string
    image: string
    keyring?: string
    monitors: string[]
    pool?: string
    readOnly?: boolean
    secretRef?: V1SecretReference
    user?: string
  }

  interface V1RBDVolumeSource {
    fsType?: string
    image: string
    keyring?: string
    monitors: string[]
    pool?: string
    readOnly?: boolean
    secretRef?: V1LocalObjectReference
    user?: string
  }

  interface V1ReplicaSet {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1ReplicaSetSpec
    status?: V1ReplicaSetStatus
  }

  interface V1ReplicaSetCondition {
    lastTransitionTime?: string
    message?: string
    reason?: string
    status: string
    type: string
  }

  interface V1ReplicaSetSpec {
    minReadySeconds?: number
    replicas?: number
    selector: V1LabelSelector
    template?: V1PodTemplateSpec
  }

  interface V1ReplicaSetStatus {
    availableReplicas?: number
    conditions?: V1ReplicaSetCondition[]
    fullyLabeledReplicas?: number
    observedGeneration?: number
    readyReplicas?: number
    replicas: number
    terminatingReplicas?: number
  }

  interface V1ReplicationController {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1ReplicationControllerSpec
    status?: V1ReplicationControllerStatus
  }

  interface V1ReplicationControllerCondition {
    lastTransitionTime?: string
    message?: string
    reason?: string
    status: string
    type: string
  }

  interface V1ReplicationControllerSpec {
    minReadySeconds?: number
    replicas?: number
    selector?: Record<string, string>
    template?: V1PodTemplateSpec
  }

  interface V1ReplicationControllerStatus {
    availableReplicas?: number
    conditions?: V1ReplicationControllerCondition[]
    fullyLabeledReplicas?: number
    observedGeneration?: number
    readyReplicas?: number
    replicas: number
  }

  interface V1ResourceAttributes {
    fieldSelector?: V1FieldSelectorAttributes
    group?: string
    labelSelector?: V1LabelSelectorAttributes
    name?: string
    namespace?: string
    resource?: string
    subresource?: string
    verb?: string
    version?: string
  }

  interface V1ResourceClaim {
    name: string
    request?: string
  }

  interface V1ResourceClaimSpec {
    devices?: V1DeviceClaim
  }

  interface V1ResourceClaimTemplate {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec: V1ResourceClaimTemplateSpec
  }

  interface V1ResourceClaimTemplateSpec {
    metadata?: V1ObjectMeta
    spec: V1ResourceClaimSpec
  }

  interface V1ResourceFieldSelector {
    containerName?: string
    divisor?: string
    resource: string
  }

  interface V1ResourceHealth {
    health?: string
    message?: string
    resourceID: string
  }

  interface V1ResourcePolicyRule {
    apiGroups: string[]
    clusterScope?: boolean
    namespaces?: string[]
    resources: string[]
    verbs: string[]
  }

  interface V1ResourcePool {
    generation: number
    name: string
    resourceSliceCount: number
  }

  interface V1ResourceQuota {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1ResourceQuotaSpec
    status?: V1ResourceQuotaStatus
  }

  interface V1ResourceQuotaSpec {
    hard?: Record<string, string>
    scopeSelector?: V1ScopeSelector
    scopes?: string[]
  }

  interface V1ResourceQuotaStatus {
    hard?: Record<string, string>
    used?: Record<string, string>
  }

  interface V1ResourceRequirements {
    claims?: CoreV1ResourceClaim[]
    limits?: Record<string, string>
    requests?: Record<string, string>
  }

  interface V1ResourceRule {
    apiGroups?: string[]
    resourceNames?: string[]
    resources?: string[]
    verbs: string[]
  }

  interface V1ResourceSlice {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec: V1ResourceSliceSpec
  }

  interface V1ResourceSliceSpec {
    allNodes?: boolean
    devices?: V1Device[]
    driver: string
    nodeName?: string
    nodeSelector?: V1NodeSelector
    perDeviceNodeSelection?: boolean
    pool: V1ResourcePool
    sharedCounters?: V1CounterSet[]
  }

  interface V1ResourceStatus {
    name: string
    resources?: V1ResourceHealth[]
  }

  interface V1Role {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    rules?: V1PolicyRule[]
  }

  interface V1RoleBinding {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    roleRef: V1RoleRef
    subjects?: RbacV1Subject[]
  }

  interface V1RoleRef {
    apiGroup?: string
    kind: string
    name: string
  }

  interface V1RollingUpdateDaemonSet {
    maxSurge?: number | string
    maxUnavailable?: number | string
  }

  interface V1RollingUpdateDeployment {
    maxSurge?: number | string
    maxUnavailable?: number | string
  }

  interface V1RollingUpdateStatefulSetStrategy {
    maxUnavailable?: number | string
    partition?: number
  }

  interface V1RuleWithOperations {
    apiGroups?: string[]
    apiVersions?: string[]
    operations?: string[]
    resources?: string[]
    scope?: string
  }

  interface V1RuntimeClass {
    apiVersion?: string
    handler: string
    kind?: string
    metadata?: V1ObjectMeta
    overhead?: V1Overhead
    scheduling?: V1Scheduling
  }

  interface V1SELinuxOptions {
    level?: string
    role?: string
    type?: string
    user?: string
  }

  interface V1Scale {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1ScaleSpec
    status?: V1ScaleStatus
  }

  interface V1ScaleIOPersistentVolumeSource {
    fsType?: string
    gateway: string
    protectionDomain?: string
    readOnly?: boolean
    secretRef: V1SecretReference
    sslEnabled?: boolean
    storageMode?: string
    storagePool?: string
    system: string
    volumeName?: string
  }

  interface V1ScaleIOVolumeSource {
    fsType?: string
    gateway: string
    protectionDomain?: string
    readOnly?: boolean
    secretRef: V1LocalObjectReference
    sslEnabled?: boolean
    storageMode?: string
    storagePool?: string
    system: string
    volumeName?: string
  }

  interface V1ScaleSpec {
    replicas?: number
  }

  interface V1ScaleStatus {
    replicas: number
    selector?: string
  }

  interface V1Scheduling {
    nodeSelector?: Record<string, string>
    tolerations?: V1Toleration[]
  }

  interface V1ScopeSelector {
    matchExpressions?: V1ScopedResourceSelectorRequirement[]
  }

  interface V1ScopedResourceSelectorRequirement {
    operator: string
    scopeName: string
    values?: string[]
  }

  interface V1SeccompProfile {
    localhostProfile?: string
    type: string
  }

  interface V1Secret {
    apiVersion?: string
    data?: Record<string, string>
    immutable?: boolean
    kind?: string
    metadata?: V1ObjectMeta
    stringData?: Record<string, string>
    type?: string
  }

  interface V1SecretEnvSource {
    name?: string
    optional?: boolean
  }

  interface V1SecretKeySelector {
    key: string
    name?: string
    optional?: boolean
  }

  interface V1SecretProjection {
    items?: V1KeyToPath[]
    name?: string
    optional?: boolean
  }

  interface V1SecretReference {
    name?: string
    namespace?: string
  }

  interface V1SecretVolumeSource {
    defaultMode?: number
    items?: V1KeyToPath[]
    optional?: boolean
    secretName?: string
  }

  interface V1SecurityContext {
    allowPrivilegeEscalation?: boolean
    appArmorProfile?: V1AppArmorProfile
    capabilities?: V1Capabilities
    privileged?: boolean
    procMount?: string
    readOnlyRootFilesystem?: boolean
    runAsGroup?: number
    runAsNonRoot?: boolean
    runAsUser?: number
    seLinuxOptions?: V1SELinuxOptions
    seccompProfile?: V1SeccompProfile
    windowsOptions?: V1WindowsSecurityContextOptions
  }

  interface V1SelectableField {
    jsonPath: string
  }

  interface V1SelfSubjectAccessReview {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec: V1SelfSubjectAccessReviewSpec
    status?: V1SubjectAccessReviewStatus
  }

  interface V1SelfSubjectAccessReviewSpec {
    nonResourceAttributes?: V1NonResourceAttributes
    resourceAttributes?: V1ResourceAttributes
  }

  interface V1SelfSubjectReview {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    status?: V1SelfSubjectReviewStatus
  }

  interface V1SelfSubjectReviewStatus {
    userInfo?: V1UserInfo
  }

  interface V1SelfSubjectRulesReview {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec: V1SelfSubjectRulesReviewSpec
    status?: V1SubjectRulesReviewStatus
  }

  interface V1SelfSubjectRulesReviewSpec {
    namespace?: string
  }

  interface V1Service {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1ServiceSpec
    status?: V1ServiceStatus
  }

  interface V1ServiceAccount {
    apiVersion?: string
    automountServiceAccountToken?: boolean
    imagePullSecrets?: V1LocalObjectReference[]
    kind?: string
    metadata?: V1ObjectMeta
    secrets?: V1ObjectReference[]
  }

  interface V1ServiceAccountSubject {
    name: string
    namespace: string
  }

  interface V1ServiceAccountTokenProjection {
    audience?: string
    expirationSeconds?: number
    path: string
  }

  interface V1ServiceBackendPort {
    name?: string
    number?: number
  }

  interface V1ServiceCIDR {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1ServiceCIDRSpec
    status?: V1ServiceCIDRStatus
  }

  interface V1ServiceCIDRSpec {
    cidrs?: string[]
  }

  interface V1ServiceCIDRStatus {
    conditions?: V1Condition[]
  }

  interface V1ServicePort {
    appProtocol?: string
    name?: string
    nodePort?: number
    port: number
    protocol?: string
    targetPort?: number | string
  }

  interface V1ServiceSpec {
    allocateLoadBalancerNodePorts?: boolean
    clusterIP?: string
    clusterIPs?: string[]
    externalIPs?: string[]
    externalName?: string
    externalTrafficPolicy?: string
    healthCheckNodePort?: number
    internalTrafficPolicy?: string
    ipFamilies?: string[]
    ipFamilyPolicy?: string
    loadBalancerClass?: string
    loadBalancerIP?: string
    loadBalancerSourceRanges?: string[]
    ports?: V1ServicePort[]
    publishNotReadyAddresses?: boolean
    selector?: Record<string, string>
    sessionAffinity?: string
    sessionAffinityConfig?: V1SessionAffinityConfig
    trafficDistribution?: string
    type?: string
  }

  interface V1ServiceStatus {
    conditions?: V1Condition[]
    loadBalancer?: V1LoadBalancerStatus
  }

  interface V1SessionAffinityConfig {
    clientIP?: V1ClientIPConfig
  }

  interface V1SleepAction {
    seconds: number
  }

  interface V1StatefulSet {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1StatefulSetSpec
    status?: V1StatefulSetStatus
  }

  interface V1StatefulSetCondition {
    lastTransitionTime?: string
    message?: string
    reason?: string
    status: string
    type: string
  }

  interface V1StatefulSetOrdinals {
    start?: number
  }

  interface V1StatefulSetPersistentVolumeClaimRetentionPolicy {
    whenDeleted?: string
    whenScaled?: string
  }

  interface V1StatefulSetSpec {
    minReadySeconds?: number
    ordinals?: V1StatefulSetOrdinals
    persistentVolumeClaimRetentionPolicy?: V1StatefulSetPersistentVolumeClaimRetentionPolicy
    podManagementPolicy?: string
    replicas?: number
    revisionHistoryLimit?: number
    selector: V1LabelSelector
    serviceName?: string
    template: V1PodTemplateSpec
    updateStrategy?: V1StatefulSetUpdateStrategy
    volumeClaimTemplates?: V1PersistentVolumeClaim[]
  }

  interface V1StatefulSetStatus {
    availableReplicas?: number
    collisionCount?: number
    conditions?: V1StatefulSetCondition[]
    currentReplicas?: number
    currentRevision?: string
    observedGeneration?: number
    readyReplicas?: number
    replicas: number
    updateRevision?: string
    updatedReplicas?: number
  }

  interface V1StatefulSetUpdateStrategy {
    rollingUpdate?: V1RollingUpdateStatefulSetStrategy
    type?: string
  }

  interface V1StorageClass {
    allowVolumeExpansion?: boolean
    allowedTopologies?: V1TopologySelectorTerm[]
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    mountOptions?: string[]
    parameters?: Record<string, string>
    provisioner: string
    reclaimPolicy?: string
    volumeBindingMode?: string
  }

  interface V1StorageOSPersistentVolumeSource {
    fsType?: string
    readOnly?: boolean
    secretRef?: V1ObjectReference
    volumeName?: string
    volumeNamespace?: string
  }

  interface V1StorageOSVolumeSource {
    fsType?: string
    readOnly?: boolean
    secretRef?: V1LocalObjectReference
    volumeName?: string
    volumeNamespace?: string
  }

  interface V1SubjectAccessReview {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec: V1SubjectAccessReviewSpec
    status?: V1SubjectAccessReviewStatus
  }

  interface V1SubjectAccessReviewSpec {
    extra?: Record<string, string[]>
    groups?: string[]
    nonResourceAttributes?: V1NonResourceAttributes
    resourceAttributes?: V1ResourceAttributes
    uid?: string
    user?: string
  }

  interface V1SubjectAccessReviewStatus {
    allowed: boolean
    denied?: boolean
    evaluationError?: string
    reason?: string
  }

  interface V1SubjectRulesReviewStatus {
    evaluationError?: string
    incomplete: boolean
    nonResourceRules: V1NonResourceRule[]
    resourceRules: V1ResourceRule[]
  }

  interface V1SuccessPolicy {
    rules: V1SuccessPolicyRule[]
  }

  interface V1SuccessPolicyRule {
    succeededCount?: number
    succeededIndexes?: string
  }

  interface V1Sysctl {
    name: string
    value: string
  }

  interface V1TCPSocketAction {
    host?: string
    port: number | string
  }

  interface V1Taint {
    effect: string
    key: string
    timeAdded?: string
    value?: string
  }

  interface V1TokenRequestSpec {
    audiences?: string[]
    boundObjectRef?: V1BoundObjectReference
    expirationSeconds?: number
  }

  interface V1TokenRequestStatus {
    expirationTimestamp?: string
    token?: string
  }

  interface V1TokenReview {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec: V1TokenReviewSpec
    status?: V1TokenReviewStatus
  }

  interface V1TokenReviewSpec {
    audiences?: string[]
    token: string
  }

  interface V1TokenReviewStatus {
    audiences?: string[]
    authenticated?: boolean
    error?: string
    user?: V1UserInfo
  }

  interface V1Toleration {
    effect?: string
    key?: string
    operator?: string
    tolerationSeconds?: number
    value?: string
  }

  interface V1TopologySelectorLabelRequirement {
    key: string
    values: string[]
  }

  interface V1TopologySelectorTerm {
    matchLabelExpressions?: V1TopologySelectorLabelRequirement[]
  }

  interface V1TopologySpreadConstraint {
    labelSelector?: V1LabelSelector
    matchLabelKeys?: string[]
    maxSkew: number
    minDomains?: number
    nodeAffinityPolicy?: string
    nodeTaintsPolicy?: string
    topologyKey: string
    whenUnsatisfiable: string
  }

  interface V1TypeChecking {
    expressionWarnings?: V1ExpressionWarning[]
  }

  interface V1TypedLocalObjectReference {
    apiGroup?: string
    kind: string
    name: string
  }

  interface V1TypedObjectReference {
    apiGroup?: string
    kind: string
    name: string
    namespace?: string
  }

  interface V1UncountedTerminatedPods {
    failed?: string[]
    succeeded?: string[]
  }

  interface V1UserInfo {
    extra?: Record<string, string[]>
    groups?: string[]
    uid?: string
    username?: string
  }

  interface V1UserSubject {
    name: string
  }

  interface V1ValidatingAdmissionPolicy {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec?: V1ValidatingAdmissionPolicySpec
    status?: V1ValidatingAdmissionPolicyStatus
  }

  interface V1ValidatingAdmissionPolicyBinding {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec: V1ValidatingAdmissionPolicyBindingSpec
  }

  interface V1ValidatingAdmissionPolicyBindingSpec {
    matchResources?: V1MatchResources
    paramRef?: V1ParamRef
    policyName: string
    validationActions: string[]
  }

  interface V1ValidatingAdmissionPolicySpec {
    auditAnnotations?: V1AuditAnnotation[]
    failurePolicy?: string
    matchConditions?: V1MatchCondition[]
    matchConstraints?: V1MatchResources
    paramKind?: V1ParamKind
    validations?: V1Validation[]
    variables?: V1Variable[]
  }

  interface V1ValidatingAdmissionPolicyStatus {
    conditions?: V1Condition[]
    observedGeneration?: number
    typeChecking?: V1TypeChecking
  }

  interface V1ValidatingWebhook {
    admissionReviewVersions: string[]
    clientConfig: AdmissionregistrationV1WebhookClientConfig
    failurePolicy?: string
    matchConditions?: V1MatchCondition[]
    matchPolicy?: string
    name: string
    namespaceSelector?: V1LabelSelector
    objectSelector?: V1LabelSelector
    rules?: V1RuleWithOperations[]
    sideEffects: string
    timeoutSeconds?: number
  }

  interface V1ValidatingWebhookConfiguration {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    webhooks?: V1ValidatingWebhook[]
  }

  interface V1Validation {
    expression: string
    message?: string
    messageExpression?: string
    reason?: string
  }

  interface V1ValidationRule {
    fieldPath?: string
    message?: string
    messageExpression?: string
    optionalOldSelf?: boolean
    reason?: string
    rule: string
  }

  interface V1Variable {
    expression: string
    name: string
  }

  interface V1Volume {
    awsElasticBlockStore?: V1AWSElasticBlockStoreVolumeSource
    azureDisk?: V1AzureDiskVolumeSource
    azureFile?: V1AzureFileVolumeSource
    cephfs?: V1CephFSVolumeSource
    cinder?: V1CinderVolumeSource
    configMap?: V1ConfigMapVolumeSource
    csi?: V1CSIVolumeSource
    downwardAPI?: V1DownwardAPIVolumeSource
    emptyDir?: V1EmptyDirVolumeSource
    ephemeral?: V1EphemeralVolumeSource
    fc?: V1FCVolumeSource
    flexVolume?: V1FlexVolumeSource
    flocker?: V1FlockerVolumeSource
    gcePersistentDisk?: V1GCEPersistentDiskVolumeSource
    gitRepo?: V1GitRepoVolumeSource
    glusterfs?: V1GlusterfsVolumeSource
    hostPath?: V1HostPathVolumeSource
    image?: V1ImageVolumeSource
    iscsi?: V1ISCSIVolumeSource
    name: string
    nfs?: V1NFSVolumeSource
    persistentVolumeClaim?: V1PersistentVolumeClaimVolumeSource
    photonPersistentDisk?: V1PhotonPersistentDiskVolumeSource
    portworxVolume?: V1PortworxVolumeSource
    projected?: V1ProjectedVolumeSource
    quobyte?: V1QuobyteVolumeSource
    rbd?: V1RBDVolumeSource
    scaleIO?: V1ScaleIOVolumeSource
    secret?: V1SecretVolumeSource
    storageos?: V1StorageOSVolumeSource
    vsphereVolume?: V1VsphereVirtualDiskVolumeSource
  }

  interface V1VolumeAttachment {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec: V1VolumeAttachmentSpec
    status?: V1VolumeAttachmentStatus
  }

  interface V1VolumeAttachmentSource {
    inlineVolumeSpec?: V1PersistentVolumeSpec
    persistentVolumeName?: string
  }

  interface V1VolumeAttachmentSpec {
    attacher: string
    nodeName: string
    source: V1VolumeAttachmentSource
  }

  interface V1VolumeAttachmentStatus {
    attachError?: V1VolumeError
    attached: boolean
    attachmentMetadata?: Record<string, string>
    detachError?: V1VolumeError
  }

  interface V1VolumeAttributesClass {
    apiVersion?: string
    driverName: string
    kind?: string
    metadata?: V1ObjectMeta
    parameters?: Record<string, string>
  }

  interface V1VolumeDevice {
    devicePath: string
    name: string
  }

  interface V1VolumeError {
    errorCode?: number
    message?: string
    time?: string
  }

  interface V1VolumeMount {
    mountPath: string
    mountPropagation?: string
    name: string
    readOnly?: boolean
    recursiveReadOnly?: string
    subPath?: string
    subPathExpr?: string
  }

  interface V1VolumeMountStatus {
    mountPath: string
    name: string
    readOnly?: boolean
    recursiveReadOnly?: string
    volumeStatus?: V1VolumeStatus
  }

  interface V1VolumeNodeAffinity {
    required?: V1NodeSelector
  }

  interface V1VolumeNodeResources {
    count?: number
  }

  interface V1VolumeProjection {
    clusterTrustBundle?: V1ClusterTrustBundleProjection
    configMap?: V1ConfigMapProjection
    downwardAPI?: V1DownwardAPIProjection
    podCertificate?: V1PodCertificateProjection
    secret?: V1SecretProjection
    serviceAccountToken?: V1ServiceAccountTokenProjection
  }

  interface V1VolumeResourceRequirements {
    limits?: Record<string, string>
    requests?: Record<string, string>
  }

  interface V1VolumeStatus {
    image?: V1ImageVolumeStatus
  }

  interface V1VsphereVirtualDiskVolumeSource {
    fsType?: string
    storagePolicyID?: string
    storagePolicyName?: string
    volumePath: string
  }

  interface V1WebhookConversion {
    clientConfig?: ApiextensionsV1WebhookClientConfig
    conversionReviewVersions: string[]
  }

  interface V1WeightedPodAffinityTerm {
    podAffinityTerm: V1PodAffinityTerm
    weight: number
  }

  interface V1WindowsSecurityContextOptions {
    gmsaCredentialSpec?: string
    gmsaCredentialSpecName?: string
    hostProcess?: boolean
    runAsUserName?: string
  }

  interface V2ContainerResourceMetricSource {
    container: string
    name: string
    target: V2MetricTarget
  }

  interface V2ContainerResourceMetricStatus {
    container: string
    current: V2MetricValueStatus
    name: string
  }

  interface V2CrossVersionObjectReference {
    apiVersion?: string
    kind: string
    name: string
  }

  interface V2ExternalMetricSource {
    metric: V2MetricIdentifier
    target: V2MetricTarget
  }

  interface V2ExternalMetricStatus {
    current: V2MetricValueStatus
    metric: V2MetricIdentifier
  }

  interface V2HPAScalingPolicy {
    periodSeconds: number
    type: string
    value: number
  }

  interface V2HPAScalingRules {
    policies?: V2HPAScalingPolicy[]
    selectPolicy?: string
    stabilizationWindowSeconds?: number
    tolerance?: string
  }

  interface V2HorizontalPodAutoscaler {
    apiVersion?: string
    kind?: string
    metadata?: V1ObjectMeta
    spec: V2HorizontalPodAutoscalerSpec
    status?: V2HorizontalPodAutoscalerStatus
  }

  interface V2HorizontalPodAutoscalerBehavior {
    scaleDown?: V2HPAScalingRules
    scaleUp?: V2HPAScalingRules
  }

  interface V2HorizontalPodAutoscalerCondition {
    lastTransitionTime?: string
    message?: string
    reason?: string
    status: string
    type: string
  }

  interface V2HorizontalPodAutoscalerSpec {
    behavior?: V2HorizontalPodAutoscalerBehavior
    maxReplicas: number
    metrics?: V2MetricSpec[]
    minReplicas?: number
    scaleTargetRef: V2CrossVersionObjectReference
  }

  interface V2HorizontalPodAutoscalerStatus {
    conditions?: V2HorizontalPodAutoscalerCondition[]
    currentMetrics?: V2MetricStatus[]
    currentReplicas?: number
    desiredReplicas: number
    lastScaleTime?: string
    observedGeneration?: number
  }

  interface V2MetricIdentifier {
    name: string
    selector?: V1LabelSelector
  }

  interface V2MetricSpec {
    containerResource?: V2ContainerResourceMetricSource
    external?: V2ExternalMetricSource
    object?: V2ObjectMetricSource
    pods?: V2PodsMetricSource
    resource?: V2ResourceMetricSource
    type: string
  }

  interface V2MetricStatus {
    containerResource?: V2ContainerResourceMetricStatus
    external?: V2ExternalMetricStatus
    object?: V2ObjectMetricStatus
    pods?: V2PodsMetricStatus
    resource?: V2ResourceMetricStatus
    type: string
  }

  interface V2MetricTarget {
    averageUtilization?: number
    averageValue?: string
    type: string
    value?: string
  }

  interface V2MetricValueStatus {
    averageUtilization?: number
    averageValue?: string
    value?: string
  }

  interface V2ObjectMetricSource {
    describedObject: V2CrossVersionObjectReference
    metric: V2MetricIdentifier
    target: V2MetricTarget
  }

  interface V2ObjectMetricStatus {
    current: V2MetricValueStatus
    describedObject: V2CrossVersionObjectReference
    metric: V2MetricIdentifier
  }

  interface V2PodsMetricSource {
    metric: V2MetricIdentifier
    target: V2MetricTarget
  }

  interface V2PodsMetricStatus {
    current: V2MetricValueStatus
    metric: V2MetricIdentifier
  }

  interface V2ResourceMetricSource {
    name: string
    target: V2MetricTarget
  }

  interface V2ResourceMetricStatus {
    current: V2MetricValueStatus
    name: string
  }
}
