package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

type defaulter struct{}

func (defaulter) Default(_ context.Context, app *App) error {
	spec := &app.Spec
	setDefault(&spec.Replicas, 1)
	setDefault(&spec.Paused, false)
	setDefault(&spec.Strategy, Strategy{})
	setText(&spec.Strategy.Type, "RollingUpdate")
	setDefault(&spec.Strategy.MaxSurge, intstr.FromString("25%"))
	for i := range spec.Containers {
		container := &spec.Containers[i]
		setText(&container.PullPolicy, "IfNotPresent")
		for j := range container.Env {
			setDefault(&container.Env[j].Value, "")
		}
		for j := range container.Ports {
			setText(&container.Ports[j].Protocol, "TCP")
		}
	}
	return nil
}

func setDefault[T any](target **T, value T) {
	if *target == nil {
		*target = &value
	}
}

func setText(target *string, value string) {
	if *target == "" {
		*target = value
	}
}

var (
	imagePattern    = regexp.MustCompile(`^[a-z0-9./:@_-]+$`)
	namePattern     = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	variablePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

type validator struct{}

func (validator) ValidateCreate(_ context.Context, app *App) (admission.Warnings, error) {
	return nil, validate(app)
}

func (validator) ValidateUpdate(_ context.Context, _, app *App) (admission.Warnings, error) {
	return nil, validate(app)
}

func (validator) ValidateDelete(context.Context, *App) (admission.Warnings, error) {
	return nil, nil
}

func validate(app *App) error {
	var errs field.ErrorList
	spec, path := app.Spec, field.NewPath("spec")
	errs = append(errs, checkText(path.Child("image"), spec.Image, 1, 256, imagePattern)...)
	if spec.Replicas != nil {
		errs = append(errs, checkRange(path.Child("replicas"), *spec.Replicas, 0, 1000)...)
	}
	if spec.Strategy != nil {
		errs = append(errs, checkEnum(path.Child("strategy", "type"), spec.Strategy.Type, "Recreate", "RollingUpdate")...)
	}
	for key, value := range spec.Labels {
		errs = append(errs, checkText(path.Child("labels").Key(key), value, 0, 63, nil)...)
	}
	if len(spec.Containers) > 10000 {
		errs = append(errs, field.TooMany(path.Child("containers"), len(spec.Containers), 10000))
	}
	for i, container := range spec.Containers {
		path := path.Child("containers").Index(i)
		errs = append(errs, checkText(path.Child("name"), container.Name, 0, 63, namePattern)...)
		errs = append(errs, checkText(path.Child("image"), container.Image, 1, -1, nil)...)
		errs = append(errs, checkEnum(path.Child("pullPolicy"), container.PullPolicy, "Always", "Never", "IfNotPresent")...)
		seen := make(map[string]bool, len(container.Env))
		for j, variable := range container.Env {
			path := path.Child("env").Index(j)
			errs = append(errs, checkText(path.Child("name"), variable.Name, 0, -1, variablePattern)...)
			if variable.Value != nil {
				errs = append(errs, checkText(path.Child("value"), *variable.Value, 0, 4096, nil)...)
			}
			if seen[variable.Name] {
				errs = append(errs, field.Duplicate(path, variable.Name))
			}
			seen[variable.Name] = true
		}
		for j, port := range container.Ports {
			path := path.Child("ports").Index(j)
			errs = append(errs, checkRange(path.Child("port"), port.Port, 1, 65535)...)
			errs = append(errs, checkEnum(path.Child("protocol"), port.Protocol, "TCP", "UDP", "SCTP")...)
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: groupVersion.Group, Kind: "App"}, app.Name, errs)
}

func checkText(path *field.Path, value string, least, most int, pattern *regexp.Regexp) field.ErrorList {
	var errs field.ErrorList
	length := utf8.RuneCountInString(value)
	if length < least {
		errs = append(errs, field.Invalid(path, value, fmt.Sprintf("should be at least %d chars long", least)))
	}
	if most >= 0 && length > most {
		errs = append(errs, field.TooLong(path, value, most))
	}
	if pattern != nil && !pattern.MatchString(value) {
		errs = append(errs, field.Invalid(path, value, "should match '"+pattern.String()+"'"))
	}
	return errs
}

func checkRange(path *field.Path, value, least, most int32) field.ErrorList {
	if value >= least && value <= most {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, fmt.Sprintf("should be from %d to %d", least, most))}
}

// checkEnum reports a value that is not allowed. It accepts an empty string, because an absent optional field is decoded as an empty
// string.
func checkEnum(path *field.Path, value string, allowed ...string) field.ErrorList {
	if value == "" || slices.Contains(allowed, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, allowed)}
}
