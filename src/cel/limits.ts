/**
 * The limits of kube-apiserver for CEL expressions and for their costs. If a limit is for the actual cost, its comment also contains a time
 * in seconds. According to the comments in kube-apiserver, an evaluation that reaches the limit runs for about this time.
 */

/** Maximum size of a request in bytes: 3 MiB (`k8s.io/apiserver/pkg/apis/cel: MaxRequestSizeBytes`). */
export const maxRequestBytes = 3 * 1024 * 1024

/** Maximum number of code points of an expression, and maximum depth of its nesting (`cel-go/parser: parser.go`). */
export const maxExpressionCharacters = 100_000
export const maxExpressionDepth = 250

/**
 * Maximum estimated cost of one rule: the cost of one evaluation times the maximum number of evaluations per object
 * (`k8s.io/apiserver/pkg/apis/cel: StaticEstimatedCostLimit`).
 */
export const ruleLimit = 10_000_000
/** Maximum estimated cost of all rules of a schema (`k8s.io/apiserver/pkg/apis/cel: StaticEstimatedCRDCostLimit`). */
export const definitionLimit = 100_000_000

/** Maximum actual cost of one evaluation: about 0.1 s (`k8s.io/apiserver/pkg/apis/cel: PerCallLimit`). */
export const perCallLimit = 1_000_000
/** Maximum actual cost of all rules on one object: about 1 s (`k8s.io/apiserver/pkg/apis/cel: RuntimeCELCostBudget`). */
export const objectBudget = 10_000_000
/**
 * Maximum actual cost of all match conditions of one webhook for one request. An evaluation that reaches this cost takes about 0.25 s
 * (`k8s.io/apiserver/pkg/apis/cel: RuntimeCELCostBudgetMatchConditions`).
 */
export const conditionsBudget = 2_500_000

/** Maximum size in bytes of the result of messageExpression (`k8s.io/apiserver/pkg/apis/cel: MaxEvaluatedMessageExpressionSizeBytes`). */
export const maxMessageBytes = 5 * 1024
