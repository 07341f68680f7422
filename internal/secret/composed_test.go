package secret

import "testing"

func TestComposedValuesAreNoSecrets(t *testing.T) {
	for _, text := range []string{
		"_authToken=743b294a-cd03-11ec-9d64-0242ac120002",
		"cloud_password = \"a-fake-short-key-77\"",
		"API_TOKEN=invalid-t0k3n-9f8e7d6c5b4a",
		"ntn_48213906557qZ8r2LmX0vTn5KcW7yBd3HfJ9pQs1UaBcD7xYe4",
		"DOTENV_PUBLIC_KEY=\"02f9a1c37be04d5586cb9e0a4417fd2283\"",
	} {
		if found := Find(text); len(found) != 0 {
			t.Errorf("%s: found %v", text, found)
		}
	}
	for _, text := range []string{
		"_authToken=6f1c2a90-8d3b-4e57-b1aa-93d07c5e2f41",
		"api_key = q8Zr2LmX0vTn5KcW7yBd3HfJ",
		"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",
		"AIzaSyD3q8Zr2LmX0vTn5KcW7yBd3HfJ9pQs1Ua",
		"AWS_SECRET_KEY=\"wJ4rXUtnFEMI/K7MDENGq8Zr2LmX0vTn5KcW7yBd\"",
		"DOTENV_PRIVATE_KEY=\"02f9a1c37be04d5586cb9e0a4417fd2283\"",
	} {
		if len(Find(text)) == 0 {
			t.Errorf("%s: nothing found", text)
		}
	}
}
