/** The limits of kube-apiserver on CEL expressions and their costs; a unit of cost is about 50 ns. */

/** Maximum size of a request in bytes: 3 MiB (`k8s.io/apiserver/pkg/apis/cel: MaxRequestSizeBytes`). */
export const maxRequestBytes = 3 * 1024 * 1024

/** Maximum number of code points of an expression, and maximum number of its levels of nesting (`cel-go/parser: parser.go`). */
export const maxExpressionCharacters = 100_000
export const maxExpressionDepth = 250

/** Maximum estimated cost of one rule with all its evaluations (`k8s.io/apiserver/pkg/apis/cel: StaticEstimatedCostLimit`). */
export const ruleLimit = 10_000_000
/** Maximum estimated cost of all rules of a schema (`StaticEstimatedCRDCostLimit`). */
export const definitionLimit = 100_000_000

/** Cost limit of one evaluation: about 0.1 s (`k8s.io/apiserver/pkg/apis/cel: PerCallLimit`). */
export const perCallLimit = 1_000_000
/** Cost budget of the rules of one object: about 1 s (`k8s.io/apiserver/pkg/apis/cel: RuntimeCELCostBudget`). */
export const objectBudget = 10_000_000
/** Cost budget of all conditions of one webhook: about 0.25 s (`k8s.io/apiserver/pkg/apis/cel: RuntimeCELCostBudgetMatchConditions`). */
export const conditionsBudget = 2_500_000

/** Maximum size of a message that messageExpression returns (`k8s.io/apiserver/pkg/apis/cel: MaxEvaluatedMessageExpressionSizeBytes`). */
export const maxMessageBytes = 5 * 1024
