package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var groupVersion = schema.GroupVersion{Group: "bench.proreus.dev", Version: "v1"}

type App struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              AppSpec   `json:"spec"`
	Status            AppStatus `json:"status,omitzero"`
}

type AppSpec struct {
	Image      string            `json:"image"`
	Replicas   *int32            `json:"replicas,omitempty"`
	Paused     *bool             `json:"paused,omitempty"`
	Strategy   *Strategy         `json:"strategy,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
	Containers []Container       `json:"containers,omitempty"`
}

type Strategy struct {
	Type     string              `json:"type,omitempty"`
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`
}

type Container struct {
	Name       string     `json:"name"`
	Image      string     `json:"image"`
	PullPolicy string     `json:"pullPolicy,omitempty"`
	Env        []Variable `json:"env,omitempty"`
	Ports      []Port     `json:"ports,omitempty"`
}

type Variable struct {
	Name  string  `json:"name"`
	Value *string `json:"value,omitempty"`
}

type Port struct {
	Port     int32  `json:"port"`
	Protocol string `json:"protocol,omitempty"`
}

type AppStatus struct {
	ReadyReplicas      int32              `json:"readyReplicas,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

type AppList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []App `json:"items"`
}

// DeepCopyObject copies the list like the code that controller-gen would generate for this type.
func (in *AppList) DeepCopyObject() runtime.Object {
	out := *in
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]App, len(in.Items))
	for i := range in.Items {
		out.Items[i] = *in.Items[i].DeepCopy()
	}
	return &out
}

// DeepCopyObject copies the object like the code that controller-gen would generate for this type.
func (in *App) DeepCopyObject() runtime.Object {
	return in.DeepCopy()
}

func (in *App) DeepCopy() *App {
	out := *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec = in.Spec.deepCopy()
	out.Status.Conditions = nil
	for _, condition := range in.Status.Conditions {
		out.Status.Conditions = append(out.Status.Conditions, *condition.DeepCopy())
	}
	return &out
}

func (in AppSpec) deepCopy() AppSpec {
	out := in
	out.Replicas, out.Paused = pointerTo(in.Replicas), pointerTo(in.Paused)
	if in.Strategy != nil {
		out.Strategy = &Strategy{Type: in.Strategy.Type, MaxSurge: pointerTo(in.Strategy.MaxSurge)}
	}
	if in.Labels != nil {
		out.Labels = make(map[string]string, len(in.Labels))
		for key, value := range in.Labels {
			out.Labels[key] = value
		}
	}
	if in.Containers != nil {
		out.Containers = make([]Container, len(in.Containers))
		for i, container := range in.Containers {
			out.Containers[i] = container
			if container.Env != nil {
				env := make([]Variable, len(container.Env))
				for j, variable := range container.Env {
					env[j] = Variable{Name: variable.Name, Value: pointerTo(variable.Value)}
				}
				out.Containers[i].Env = env
			}
			out.Containers[i].Ports = append([]Port(nil), container.Ports...)
		}
	}
	return out
}

func pointerTo[T any](in *T) *T {
	if in == nil {
		return nil
	}
	out := *in
	return &out
}
